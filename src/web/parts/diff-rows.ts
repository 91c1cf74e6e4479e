import { type DiffFile, type DiffLine, fileId, sideBySide } from './diff-lines.ts'
import { type Markup, markup } from './markup.ts'

/** Where a click on the number of a line leads, and the form that is put below it instead where there is script. */
export interface LineTarget {
  readonly to: string | undefined
  readonly form: string | undefined
}

/** One row of a diff, with the lines that something may be said of below it. */
export interface DiffRow {
  readonly markup: Markup
  readonly lines: readonly DiffLine[]
}

type Target = (line: DiffLine) => LineTarget

/** The rows of a file, one line each. */
export function unifiedRows(file: DiffFile, lines: readonly DiffLine[], target: Target): DiffRow[] {
  const id = fileId(file)
  return lines.map((line) => {
    const to = target(line)
    const numbers = [numberCell(line, 'old', to), numberCell(line, 'new', to)]
    return {
      markup: markup`<tr${idOf(id, line)} class="${line.kind}">${numbers}${codeCell(line)}</tr>`,
      lines: isCode(line) ? [line] : [],
    }
  })
}

/** The rows of a file, what went at the left of what came. */
export function splitRows(file: DiffFile, lines: readonly DiffLine[], target: Target): DiffRow[] {
  const id = fileId(file)
  return sideBySide(lines).map(({ left, right }) => {
    const both = [...new Set([left, right])].filter((line) => line !== undefined)
    const cells = [
      numberCell(left, 'old', left && target(left)),
      codeCell(left),
      numberCell(right, 'new', right && target(right)),
      codeCell(right === left && right?.kind === 'hunk' ? undefined : right),
    ]
    return {
      markup: markup`<tr${left ? idOf(id, left) : NOTHING}>${cells}</tr>`,
      lines: both.filter(isCode),
    }
  })
}

const NOTHING = markup``

/** Whether it is a line of the file, which one may speak of. */
export function isCode({ kind }: DiffLine): boolean {
  return kind !== 'hunk' && kind !== 'note'
}

/** The line code: the id of a line on its page. */
function idOf(file: string, line: DiffLine): Markup {
  return isCode(line) ? markup` id="${file}_${line.old}_${line.new}"` : NOTHING
}

function numberCell(
  line: DiffLine | undefined,
  side: 'old' | 'new',
  target: LineTarget | undefined,
): Markup {
  const other = side === 'old' ? 'added' : 'removed'
  if (!line || !isCode(line) || line.kind === other) {
    return markup`<td class="num ${line?.kind ?? ''}"></td>`
  }
  return markup`<td class="num ${line.kind}">${numberOf(line[side], target)}</td>`
}

function numberOf(number: number, target: LineTarget | undefined): Markup {
  if (target?.to === undefined) return markup`${number}`
  const { to, form } = target
  const insert = form === undefined ? NOTHING : markup` data-insert="${form}" data-line="${number}"`
  return markup`<a href="${to}" aria-label="Comment on line ${number}"${insert}>${number}</a>`
}

const signs = { added: '+', removed: '−', same: ' ', hunk: '', note: '' } as const

function codeCell(line: DiffLine | undefined): Markup {
  if (!line) return markup`<td class="diff-code none"></td>`
  const { kind } = line
  return markup`<td class="diff-code ${kind}" data-sign="${signs[kind]}"><code>${markChanged(line)}</code></td>`
}

function markChanged({ text, changed }: DiffLine): Markup {
  const [from, to] = changed ?? [0, 0]
  if (to <= from) return markup`${text}`
  return markup`${text.slice(0, from)}<mark>${text.slice(from, to)}</mark>${text.slice(to)}`
}
