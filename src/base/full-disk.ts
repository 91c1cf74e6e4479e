const codes: ReadonlySet<string> = new Set([
  'ENOSPC',
  'EDQUOT',
  'SQLITE_FULL',
  'SQLITE_IOERR_SHMSIZE',
  // Of git and of the engine.
  'full',
])
/** What programs say, and errors that came from another process. `Out of diskspace` is git's, of a write that wrote nothing. */
const words =
  /No space left on device|Out of diskspace|Disk quota exceeded|ENOSPC|EDQUOT|database or disk is full/i

/** Whether this went wrong because the disk, or somebody's share of it, is full. */
export function isDiskFull(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  if ('code' in error && codes.has(String(error.code))) return true
  return error.cause !== undefined && isDiskFull(error.cause)
}

/** Whether what a program said means that. */
export function saysDiskFull(text: string): boolean {
  return words.test(text)
}

/** What people read whose write found no room. */
export const diskFullText = 'The disk of the server is full: nothing was changed, try again later.'

/** A write that a read would like to make, and does without when the disk is full. */
export async function unlessDiskFull(write: Promise<unknown>): Promise<void> {
  try {
    await write
  } catch (error) {
    if (!isDiskFull(error)) throw error
  }
}
