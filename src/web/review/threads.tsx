import { Avatar, Time } from '../parts/basics.tsx'
import { ButtonForm, Form } from '../parts/form.tsx'
import { A } from '../parts/link.tsx'
import { Markdown } from '../parts/markdown.tsx'
import { MarkdownArea } from '../parts/markdown-area.tsx'
import { SuggestionView } from './suggestions.tsx'
import { isResolved, type ShownNote, type ShownThread } from './threads-data.ts'

interface ThreadProps {
  readonly thread: ShownThread
  /** The address of the merge request. */
  readonly address: string
  readonly mayComment: boolean
  /** Suggestions may be applied: the source branch is theirs to push to. */
  readonly mayApply: boolean
  /** The part of the page that is renewed by what is done here, where there is script. */
  readonly part?: string
  /** The version that it was begun on, where that is not the one that is shown. */
  readonly madeOn?: string | undefined
}

/** What was said in one thread, with what to do about it. */
export function ThreadView({ thread, ...props }: ThreadProps) {
  const [first] = thread.notes
  if (!first) return null
  if (first.system) {
    return (
      <div class="system-note quiet" id={`note_${first.id}`}>
        {first.author?.name ?? 'Somebody'} <Markdown html={first.html} />{' '}
        <Time at={first.created_at} />
      </div>
    )
  }
  const resolved = isResolved(thread)
  return (
    <details class="box thread" open={!resolved} data-thread={resolved ? 'resolved' : 'open'}>
      <summary class="box-head" tabIndex={0}>
        <span>
          {first.author?.name ?? 'Somebody'}
          {first.position && <Place note={first} />}
        </span>
        <span class="row">
          {props.madeOn !== undefined && <span class="label">{props.madeOn}</span>}
          {resolved && <span class="label">resolved</span>}
        </span>
      </summary>
      <div class="box-body stack">
        {thread.notes.map((note) => (
          <NoteView key={note.id} note={note} {...props} />
        ))}
        <Answer thread={thread} {...props} />
      </div>
    </details>
  )
}

function Place({ note: { position } }: { note: ShownNote }) {
  if (!position) return null
  const line = position.new_line ?? position.old_line
  return (
    <>
      {' on '}
      <code>
        {position.new_path}
        {line !== null && `:${line}`}
      </code>
    </>
  )
}

function Answer({ thread, address, mayComment, part }: ThreadProps) {
  const resolved = isResolved(thread)
  const own = `${address}/discussions/${thread.id}`
  return (
    <>
      {mayComment && (
        <Form action={`${own}/reply`} class="stack tight" quiet={part}>
          <MarkdownArea name="body" rows={2} required aria-label="Reply" placeholder="Reply" />
          <p class="row">
            <button type="submit" class="button">
              Reply
            </button>
            <button type="submit" class="button" name="keep" value="draft">
              Add to the review
            </button>
          </p>
        </Form>
      )}
      {thread.mayResolve && (
        <ButtonForm
          action={`${own}/resolve`}
          fields={{ resolved: resolved ? 'false' : 'true' }}
          label={resolved ? 'Reopen the thread' : 'Resolve the thread'}
          quiet={part}
        />
      )}
    </>
  )
}

function NoteView({ note, ...props }: Omit<ThreadProps, 'thread'> & { note: ShownNote }) {
  return (
    <article class="stack tight" id={`note_${note.id}`}>
      <p class="row quiet">
        {note.author && <Avatar of={note.author} />}
        <strong>{note.author?.name ?? 'Somebody'}</strong>
        <A href={`#note_${note.id}`} class="quiet">
          <Time at={note.created_at} />
        </A>
        {note.internal && <span class="label">internal</span>}
      </p>
      <Markdown html={note.html} />
      {note.suggestions?.map((suggestion) => (
        <SuggestionView key={suggestion.id} suggestion={suggestion} {...props} />
      ))}
    </article>
  )
}
