/** A line that asks for something instead of saying it, such as `/label ~bug` (docs/contract/D §1.11). */
export interface AskedCommand {
  /** In lower case. */
  readonly name: string
  readonly argument: string
}

/** What is said beside the commands, and the commands in their order. */
export interface TakenCommands {
  readonly text: string
  readonly commands: readonly AskedCommand[]
}

const commandLine = /^\/([a-z_]{1,40})(?:[ \t]([^\n]*))?\r?$/i
const fence = /^(`{3,}|~{3,}|>{3})/

/** Lines that become other text and ask for nothing. */
const substitutes: Readonly<Record<string, string>> = {
  shrug: '¯\\＿(ツ)＿/¯',
  tableflip: '(╯°□°)╯︵ ┻━┻',
}

/**
 * Takes the lines of known commands out of a text. What stands in a block of code or of quotation is text, and so is a
 * command that nobody knows.
 */
export function takeCommands(text: string, known: ReadonlySet<string>): TakenCommands {
  const commands: AskedCommand[] = []
  const kept: string[] = []
  let block: string | undefined
  for (const line of text.split('\n')) {
    const mark = fence.exec(line)?.[1]
    if (mark !== undefined) block = blockAfter(block, mark)
    const command = block === undefined ? readCommand(line) : undefined
    const substitute = command && substitutes[command.name]
    if (command && substitute !== undefined) kept.push(`${command.argument} ${substitute}`.trim())
    else if (command && known.has(command.name)) commands.push(command)
    else kept.push(line)
  }
  const changed = kept.join('\n')
  return { text: commands.length === 0 ? changed : changed.trim(), commands }
}

/** The block that a line of marks leaves us in: it opens one, or closes the one that it fits. */
function blockAfter(open: string | undefined, mark: string): string | undefined {
  if (open === undefined) return mark
  return mark.charAt(0) === open.charAt(0) && mark.length >= open.length ? undefined : open
}

function readCommand(line: string): AskedCommand | undefined {
  const found = line.startsWith('/') ? commandLine.exec(line) : null
  if (!found?.[1]) return undefined
  return { name: found[1].toLowerCase(), argument: found[2]?.trim() ?? '' }
}

/** Labels, milestones or people that one command names. */
const MOST_NAMED = 100

/** `~a ~"b c"` as `a` and `b c`; words without the mark count when there is no mark at all. */
export function readMarked(argument: string, mark: '~' | '%'): string[] {
  if (!argument.includes(mark)) return wordsOf(argument)
  const pattern = new RegExp(`${mark}(?:"([^"]+)"|'([^']+)'|([^\\s,]+))`, 'g')
  const found = [...argument.matchAll(pattern)].flatMap(
    ([, double, single, plain]) => double ?? single ?? plain ?? [],
  )
  return found.slice(0, MOST_NAMED)
}

/** The users that an argument names: `@ana, @ben`, with or without the mark. */
export function readNames(argument: string): string[] {
  return wordsOf(argument.replaceAll(/\band\b/g, ' '))
    .map((word) => word.replace(/^@/, ''))
    .filter((word) => word !== '')
}

function wordsOf(argument: string): string[] {
  return argument
    .split(/[\s,]+/)
    .filter((word) => word !== '')
    .slice(0, MOST_NAMED)
}
