import { type ComponentChildren, Fragment } from 'preact'
import { useShown } from '../context.ts'
import { countLines, type DiffFile, type DiffLine, diffLines, fileId } from './diff-lines.ts'
import { type DiffRow, isCode, splitRows, unifiedRows } from './diff-rows.ts'
import { Icon } from './icon.tsx'
import type { IconName } from './icon-names.ts'
import { Images, isImage, type Picture } from './images.tsx'
import { A, addressIn } from './link.tsx'
import type { Markup } from './markup.ts'
import { Rows } from './rows.tsx'

export type { DiffFile, DiffLine } from './diff-lines.ts'

export type DiffLayout = 'unified' | 'split'

/** More lines than this of one file are folded: the page stays quick. */
const FOLDED_FROM = 1500

interface DiffProps {
  readonly files: readonly DiffFile[]
  /** `?view=` of the page. */
  readonly layout?: DiffLayout
  /** The address of a file as it is then. */
  readonly fileAddress?: (file: DiffFile) => string
  /** Where a changed picture is, as it was and as it is then. */
  readonly pictures?: (file: DiffFile) => { readonly before: Picture; readonly after: Picture }
  /** Where somebody may comment on the line. */
  readonly lineAddress?: ((file: DiffFile, line: DiffLine) => string) | undefined
  /** The address of the form for that alone, which is put below the line where there is script. */
  readonly lineForm?: ((file: DiffFile, line: DiffLine) => string) | undefined
  /** What stands below a line, such as the threads on it. */
  readonly below?: (file: DiffFile, line: DiffLine) => ComponentChildren
}

/** Changed files, each with its lines: unified, or side by side. */
export function Diff(props: DiffProps) {
  return (
    <div class="diffs">
      {props.files.map((file) => (
        <FileOfDiff key={fileId(file)} file={file} {...props} />
      ))}
    </div>
  )
}

function FileOfDiff({ file, fileAddress, pictures, ...props }: DiffProps & { file: DiffFile }) {
  const lines = diffLines(file.diff)
  const { added, removed } = countLines(lines)
  const name = file.renamed_file ? `${file.old_path} → ${file.new_path}` : file.new_path
  const folded = file.collapsed || file.generated_file || lines.length > FOLDED_FROM
  return (
    <details class="box diff-file" id={fileId(file)} open={!folded}>
      <summary class="box-head">
        <span>
          <Icon name={changeOf(file)[0]} label={changeOf(file)[1]} />{' '}
          <span class="mono">{name}</span>
        </span>
        <span class="row">
          {file.generated_file && <span class="label">generated</span>}
          <span class="added">+{added}</span> <span class="removed">−{removed}</span>
        </span>
      </summary>
      {fileAddress && !file.deleted_file && (
        <div class="row file-actions">
          <A class="button" href={fileAddress(file)}>
            View file
          </A>
        </div>
      )}
      {pictures && isImage(file) ? (
        <Images {...shownPictures(file, pictures(file))} />
      ) : lines.length === 0 ? (
        <p class="box-body quiet">{emptyText(file)}</p>
      ) : (
        <Lines file={file} lines={lines} {...props} />
      )}
    </details>
  )
}

/** Without the side on which there is none. */
function shownPictures(file: DiffFile, { before, after }: Record<'before' | 'after', Picture>) {
  return {
    before: file.new_file ? undefined : before,
    after: file.deleted_file ? undefined : after,
  }
}

/** The lines of one file, or why there are none. */
export function DiffLines({ file, ...props }: Omit<DiffProps, 'files'> & { file: DiffFile }) {
  const lines = diffLines(file.diff)
  if (lines.length === 0) return <p class="box-body quiet">{emptyText(file)}</p>
  return <Lines file={file} lines={lines} {...props} />
}

export function changeOf(
  file: Pick<DiffFile, 'new_file' | 'deleted_file' | 'renamed_file'>,
): readonly [IconName, string] {
  if (file.new_file) return ['diff-added', 'Added']
  if (file.deleted_file) return ['diff-removed', 'Deleted']
  return file.renamed_file ? ['diff-renamed', 'Renamed'] : ['diff-modified', 'Changed']
}

function emptyText(file: DiffFile): string {
  if (file.too_large) return 'This file is too large to be shown here.'
  if (file.collapsed) return 'This file is not shown, since the whole diff is large.'
  if (file.renamed_file) return 'The file was renamed without changes.'
  return 'No lines to show: the file is empty, binary, or only its mode changed.'
}

type LinesProps = Pick<DiffProps, 'layout' | 'lineAddress' | 'lineForm' | 'below'> & {
  readonly file: DiffFile
  readonly lines: readonly DiffLine[]
}

function Lines({ file, lines, layout = 'unified', lineAddress, lineForm, below }: LinesProps) {
  const shown = useShown()
  const target = (line: DiffLine) => {
    const to = isCode(line) ? lineAddress?.(file, line) : undefined
    const form = to === undefined ? undefined : lineForm?.(file, line)
    return { to: to && addressIn(shown, to), form: form && addressIn(shown, form) }
  }
  const rows =
    layout === 'unified' ? unifiedRows(file, lines, target) : splitRows(file, lines, target)
  return (
    <div class="diff-scroll">
      <table class={layout === 'split' ? 'diff split' : 'diff'}>
        {piecesOf(rows, (line) => below?.(file, line)).map(({ rows, below }, index) => (
          <Fragment key={index}>
            <Rows of={rows} />
            {below.length > 0 && <Below span={layout === 'split' ? 4 : 3}>{below}</Below>}
          </Fragment>
        ))}
      </table>
    </div>
  )
}

interface Piece {
  readonly rows: Markup[]
  readonly below: ComponentChildren[]
}

/** Rows up to the next that has something below it, again and again. */
function piecesOf(rows: readonly DiffRow[], below: (line: DiffLine) => ComponentChildren): Piece[] {
  const pieces: Piece[] = [{ rows: [], below: [] }]
  for (const { markup, lines } of rows) {
    const last = pieces.at(-1)
    last?.rows.push(markup)
    const found = lines.map(below).filter(Boolean)
    if (found.length === 0) continue
    last?.below.push(...found)
    pieces.push({ rows: [], below: [] })
  }
  return pieces.filter(({ rows }) => rows.length > 0)
}

function Below({ span, children }: { span: number; children: readonly ComponentChildren[] }) {
  return (
    <tbody>
      {children.map((child, index) => (
        <tr key={index} class="below">
          <td colSpan={span}>{child}</td>
        </tr>
      ))}
    </tbody>
  )
}
