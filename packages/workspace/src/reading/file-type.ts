/** What binary files begin with. */
const BEGINNINGS: readonly (readonly [type: string, bytes: string, at?: number])[] = [
  ['PNG image', '\x89PNG\r\n\x1A\n'],
  ['JPEG image', '\xFF\xD8\xFF'],
  ['GIF image', 'GIF8'],
  ['WebP image', 'WEBP', 8],
  ['TIFF image', 'II*\0'],
  ['TIFF image', 'MM\0*'],
  ['icon', '\0\0\x01\0'],
  ['PDF document', '%PDF-'],
  ['ZIP archive', 'PK\x03\x04'],
  ['gzip archive', '\x1F\x8B'],
  ['xz archive', '\xFD7zXZ\0'],
  ['Zstandard archive', '\x28\xB5\x2F\xFD'],
  ['7z archive', '7z\xBC\xAF\x27\x1C'],
  ['tar archive', 'ustar', 257],
  ['SQLite database', 'SQLite format 3\0'],
  ['ELF program', '\x7FELF'],
  ['WebAssembly module', '\0asm'],
  ['WAV sound', 'WAVE', 8],
  ['Ogg media', 'OggS'],
  ['MP4 media', 'ftyp', 4],
  ['MP3 sound', 'ID3'],
  ['WOFF font', 'wOF'],
  ['TrueType font', '\0\x01\0\0\0'],
];

/** Enough of a file for `fileTypeOf`. */
export const TYPE_BYTES = 262;

/** What a binary file is, by its beginning; null for what is not known. */
export function fileTypeOf(beginning: Buffer): string | null {
  const text = beginning.toString('latin1');
  return BEGINNINGS.find(([, bytes, at = 0]) => text.startsWith(bytes, at))?.[0] ?? null;
}
