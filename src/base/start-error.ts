/** A reason that stops the start. The message is one line for the operator; no stack is shown. */
export class StartError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'StartError'
  }
}

const noRight = `user ${process.geteuid?.() ?? 'unknown'}, who runs this, has no right to it`

/** What to do about what the system refuses. */
const advice: Readonly<Record<string, string>> = {
  EACCES: noRight,
  EPERM: noRight,
  EROFS: 'mount it so that it can be written',
  ENOSPC: 'make room on the disk',
  EDQUOT: 'make room, or raise the quota',
  EMFILE: 'raise the limit of open files (ulimit -n)',
  ENFILE: 'the machine has too many files open',
  ENOTDIR: 'a part of this path is a file',
}

/** Why something failed, in one line without the name and the code of the error: they say nothing to an operator. */
export function reasonOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error)
  return (text.split('\n')[0] ?? '').replace(/^[A-Z][A-Z\d_]+: /, '')
}

/** What the system refused to do, in one line that says what to do; undefined for any other error. */
export function systemRefusal(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('syscall' in error) || !('code' in error)) return undefined
  const what = advice[String(error.code)]
  return what === undefined ? reasonOf(error) : `${reasonOf(error)}: ${what}`
}
