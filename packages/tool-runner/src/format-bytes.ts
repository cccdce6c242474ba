/** `12 B`, `1.5 KiB`, `2.0 MiB`. */
export function formatBytes(bytes: number): string {
  if (bytes < 1_024) return `${bytes} B`;
  const inKib = bytes / 1_024;
  return inKib < 1_024 ? `${inKib.toFixed(1)} KiB` : `${(inKib / 1_024).toFixed(1)} MiB`;
}
