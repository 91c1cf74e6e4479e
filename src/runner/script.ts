const GREEN = '\u001b[32;1m'
const PLAIN = '\u001b[0;m'

/** One word of a shell, whatever is in it. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}

/**
 * The lines of a job as one script of a shell: each is shown before it runs, and the first that fails ends it. Works in
 * bash and in plain POSIX shells.
 */
export function shellScript(
  lines: readonly string[],
  given: { readonly folder: string; readonly processes: number; readonly trace: boolean },
): string {
  const head = [
    'if set -o | grep -q pipefail; then set -o pipefail; fi',
    'set -e',
    'set +o noclobber',
    ...(given.processes > 0 ? [`ulimit -u ${given.processes + 2000} 2>/dev/null || true`] : []),
    `cd ${quoted(given.folder)}`,
    ...(given.trace ? ['set -x'] : []),
  ]
  const body = lines.flatMap((line) => [`printf '%s\\n' ${quoted(shownLine(line))}`, line])
  return [...head, ...body, ''].join('\n')
}

function shownLine(line: string): string {
  const [first = '', ...more] = line.split('\n')
  const rest = more.length > 0 ? ' # collapsed multi-line command' : ''
  return `${GREEN}$ ${first}${rest}${PLAIN}`
}

/** The beginning of a part of a log that can be folded. */
export function sectionStart(name: string, title: string, seconds: number): string {
  return `section_start:${seconds}:${name}\r\u001b[0K\u001b[0K\u001b[36;1m${title}\u001b[0;m\n`
}

export function sectionEnd(name: string, seconds: number): string {
  return `section_end:${seconds}:${name}\r\u001b[0K`
}
