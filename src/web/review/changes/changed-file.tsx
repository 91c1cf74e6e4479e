import type { ComponentChildren } from 'preact'
import { placeAddress } from '../../code/place.ts'
import { useShown } from '../../context.ts'
import { changeOf, type DiffLine, DiffLines } from '../../parts/diff.tsx'
import { fileId } from '../../parts/diff-lines.ts'
import { ButtonForm } from '../../parts/form.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Images, isImage } from '../../parts/images.tsx'
import { A, addressIn } from '../../parts/link.tsx'
import { Items } from '../../parts/rows.tsx'
import { ThreadView } from '../threads.tsx'
import type { ShownThread } from '../threads-data.ts'
import {
  type ChangedFile,
  type ChangeSet,
  changesAddress,
  type Draft,
  type FileDiff,
  fileAddress,
  filesAddress,
  mayCommentOnLines,
} from './change-set.ts'
import { DraftView } from './drafts.tsx'
import type { FileTalk } from './file-talk.ts'
import { commentAddress, onLine, standingOf, versionNumber } from './lines.ts'
import { picturesOf } from './pictures.ts'
import { FlashHere } from './review-form.tsx'
import { laterItems } from './tree-items.ts'

interface FileProps {
  readonly set: ChangeSet
  readonly file: ChangedFile
  readonly diff: FileDiff | undefined
  readonly talk: FileTalk
  /** It stands alone, after something was done with it. */
  readonly renewed?: boolean
}

/** More lines than this of one file are shown when they are asked for. */
export const LONG_FILE = 1500

/** Folded at first: what was looked at, what programs write, what the repository says nobody needs to see, and what is long. */
export function isFolded(file: ChangedFile): boolean {
  const { viewed, generated_file, diff_suppressed, additions, deletions } = file
  const isDull = generated_file || diff_suppressed
  return viewed === 'yes' || isDull || (additions ?? 0) + (deletions ?? 0) > LONG_FILE
}

interface PartProps {
  readonly set: ChangeSet
  readonly file: ChangedFile
  readonly open: boolean
  readonly children: ComponentChildren
}

/** One changed file: its head, and below it what is given or, later, what its own address gives. */
export function FilePart({ set, file, open, children }: PartProps) {
  return (
    <details class="box diff-file" id={fileId(file)} data-part open={open}>
      <summary class="box-head" tabIndex={0}>
        <FileName file={file} />
        <span class="row">
          {file.generated_file && <span class="label">generated</span>}
          {file.diff_suppressed && <span class="label">no diff</span>}
          {file.code_owners.length > 0 && (
            <span class="facts quiet" title="Code owners">
              <Icon name="people" label="Code owners" /> {file.code_owners.join(' ')}
            </span>
          )}
          <Counts file={file} />
        </span>
      </summary>
      <div class="row file-actions">
        <FileActions set={set} file={file} />
      </div>
      {children}
    </details>
  )
}

function FileName({ file }: { file: ChangedFile }) {
  const name = file.renamed_file ? `${file.old_path} → ${file.new_path}` : file.new_path
  const [icon, word] = changeOf(file)
  return (
    <span>
      <Icon name={icon} label={word} /> <span class="mono">{name}</span>{' '}
      {file.viewed === 'yes' && <span class="label">viewed</span>}
      {file.viewed === 'changed' && <span class="label waiting">changed since you viewed it</span>}
    </span>
  )
}

function Counts({ file: { additions, deletions } }: { file: ChangedFile }) {
  if (additions === null) return <span class="quiet">binary</span>
  return (
    <span>
      <span class="added">+{additions}</span> <span class="removed">−{deletions}</span>
    </span>
  )
}

function FileActions({ set, file }: { set: ChangeSet; file: ChangedFile }) {
  const { project, request, version, query } = set
  const head = version?.head_commit_sha
  const isOurs = request.source_project_id === project.id
  return (
    <>
      {set.signedIn && query.since === undefined && (
        <ButtonForm
          action={`${set.address}/viewed`}
          fields={{
            path: file.new_path,
            viewed: file.viewed === 'yes' ? 'false' : 'true',
            ...(query.version === undefined ? {} : { version_id: query.version }),
          }}
          label={file.viewed === 'yes' ? 'Not viewed' : 'Viewed'}
          quiet={fileAddress(set, file)}
        />
      )}
      {file.viewed === 'changed' && file.viewed_version_id !== null && (
        <A
          class="button"
          href={changesAddress(set, { since: file.viewed_version_id, file: file.new_path })}
        >
          Changes since you viewed it
        </A>
      )}
      {mayCommentOnLines(set) && <CommentOnFile set={set} file={file} />}
      {head !== undefined && isOurs && !file.deleted_file && (
        <A class="button" href={placeAddress(project, 'blob', { ref: head, path: file.new_path })}>
          View file
        </A>
      )}
    </>
  )
}

function CommentOnFile({ set, file }: { set: ChangeSet; file: ChangedFile }) {
  const shown = useShown()
  return (
    <A
      class="button"
      href={commentAddress(set, file, 'file')}
      data-insert={addressIn(shown, commentAddress(set, file, 'file', 'comment_form'))}
      data-key="comment"
    >
      Comment on the file
    </A>
  )
}

/** A file whose lines come when it is seen, or opened. */
export function LaterFile({
  set,
  file,
  open,
}: Pick<FileProps, 'set' | 'file'> & { open: boolean }) {
  const shown = useShown()
  return (
    <FilePart set={set} file={file} open={open}>
      <div
        data-load={addressIn(shown, fileAddress(set, file, 'body'))}
        data-lazy
        class="later box-body"
      >
        <A href={changesAddress(set, { file: file.new_path })}>Show what changed in this file</A>
      </div>
    </FilePart>
  )
}

interface LaterFilesProps {
  readonly set: ChangeSet
  /** Which of the files they are. */
  readonly start: number
  readonly count: number
}

/** Files whose heads come when somebody comes near them: until then each is a line that leads to it alone. */
export function LaterFiles({ set, start, count }: LaterFilesProps) {
  const shown = useShown()
  return (
    <div data-load={addressIn(shown, filesAddress(set, start))} data-lazy class="diffs">
      <Items of={laterItems(shown, set, set.files.slice(start, start + count))} />
    </div>
  )
}

/** A file with its lines, and what people said about them. */
export function WholeFile(props: FileProps) {
  return (
    <FilePart set={props.set} file={props.file} open={props.file.viewed !== 'yes'}>
      <FileBody {...props} />
    </FilePart>
  )
}

/** On which version something was said, where that is not the one that is shown. */
function oldText(set: ChangeSet, position: NonNullable<Draft['position']>): string | undefined {
  if (standingOf(position, set.version) !== 'outdated') return undefined
  return `outdated: version ${versionNumber(set.versions, position.head_sha) ?? 'unknown'}`
}

export function FileBody({ set, file, diff, talk, renewed = false }: FileProps) {
  const part = fileAddress(set, file)
  const facts = { address: set.address, mayComment: set.mayComment, mayApply: talk.mayApply, part }
  const thread = (one: ShownThread, madeOn?: string) => (
    <ThreadView key={one.id} thread={one} madeOn={madeOn} {...facts} />
  )
  const above = talk.threads.filter(({ position }) => standingOf(position, set.version) !== 'line')
  const draftsAbove = talk.drafts.filter(
    ({ position }) => standingOf(position, set.version) !== 'line',
  )
  const mayComment = mayCommentOnLines(set)
  const below = (_: unknown, line: DiffLine) => {
    const threads = onLine(talk.threads, set.version, line)
    const drafts = onLine(talk.drafts, set.version, line)
    if (threads.length + drafts.length === 0) return null
    return (
      <div class="stack">
        {threads.map(({ shown }) => thread(shown))}
        {drafts.map(({ shown }) => (
          <DraftView key={shown.id} draft={shown} address={set.address} part={part} />
        ))}
      </div>
    )
  }
  return (
    <>
      {renewed && <FlashHere />}
      {above.length + draftsAbove.length > 0 && (
        <div class="box-body stack">
          {above.map(({ shown, position }) => thread(shown, oldText(set, position)))}
          {draftsAbove.map(({ shown, position }) => (
            <DraftView
              key={shown.id}
              draft={shown}
              address={set.address}
              part={part}
              madeOn={oldText(set, position)}
            />
          ))}
        </div>
      )}
      {isImage(file) && <Images {...picturesOf(set, file)} />}
      {diff && (
        <DiffLines
          file={diff}
          layout={set.layout}
          lineAddress={mayComment ? (_, line) => commentAddress(set, file, line) : undefined}
          lineForm={
            mayComment ? (_, line) => commentAddress(set, file, line, 'comment_form') : undefined
          }
          below={below}
        />
      )}
      {!diff && <p class="box-body quiet">Nothing changed in it between these versions.</p>}
    </>
  )
}
