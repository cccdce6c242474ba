export { CHANGING_CALLS, interceptDisk } from './intercept-disk.ts';
export type {
  DiskCall,
  DiskCallName,
  DiskErrorCode,
  DiskFault,
  DiskInterception,
  DiskRule,
} from './intercept-disk.ts';
