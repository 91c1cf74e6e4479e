import { Problem } from '../../base/problem.ts'
import {
  createCommitComment,
  listCommitComments,
} from '../../discussions/commit-notes/comment-endpoints.ts'
import { call, may } from '../../http/call/call.ts'
import type { DataOf } from '../../http/endpoint.ts'
import { getCommitSignature } from '../../repositories/commits/endpoints.ts'
import { pathOf } from '../address.ts'
import { form } from '../form.ts'
import type { PageCtx } from '../page-ctx.ts'
import { PersonLink, State, Time } from '../parts/basics.tsx'
import type { DiffFile, DiffLine } from '../parts/diff.tsx'
import { Field, Form } from '../parts/form.tsx'
import { Markdown } from '../parts/markdown.tsx'
import type { ProjectData } from '../project/frame.tsx'
import { renderedIn } from './readme.tsx'

type Comment = DataOf<typeof listCommitComments>['items'][number] & { readonly html: string }
type Signature = DataOf<typeof getCommitSignature>

const MOST = 100

/** What people say of a commit, and whose signature it has. */
export interface Talk {
  readonly comments: readonly Comment[]
  readonly signature: Signature | undefined
  readonly mayComment: boolean
}

export async function readTalk(ctx: PageCtx, project: ProjectData, sha: string): Promise<Talk> {
  const path = { id: project.id, sha }
  const [comments, signature, mayComment] = await Promise.all([
    call(listCommitComments, ctx, { path, query: { per_page: MOST } }),
    call(getCommitSignature, ctx, { path }).catch((error: unknown) => {
      if (error instanceof Problem && error.code === 'not_found') return undefined
      throw error
    }),
    may(createCommitComment, ctx, { path }),
  ])
  const shown = comments.items.map(async (comment) => {
    return { ...comment, html: await renderedIn(ctx, project, comment.note) }
  })
  return { comments: await Promise.all(shown), signature, mayComment }
}

export function SignatureMark({ signature }: { signature: Signature }) {
  const isGood = signature.verification_status === 'verified'
  return (
    <State kind={isGood ? 'open' : 'plain'} icon={isGood ? 'verified' : 'question'}>
      {isGood ? 'Verified' : `Signed, ${signature.verification_status.replaceAll('_', ' ')}`}{' '}
      {signature.signature_type}
    </State>
  )
}

/** A line of a changed file as comments name it. */
export function lineOf(file: DiffFile, line: DiffLine) {
  const isOld = line.kind === 'removed'
  return {
    path: file.new_path,
    line: isOld ? line.old : line.new,
    line_type: isOld ? ('old' as const) : ('new' as const),
  }
}

interface CommentsOnProps {
  readonly talk: Talk
  readonly file: DiffFile
  readonly line: DiffLine
}

export function commentsOn({ talk, file, line }: CommentsOnProps): readonly Comment[] {
  const at = lineOf(file, line)
  return talk.comments.filter((one) => {
    return one.path === at.path && one.line === at.line && one.line_type === at.line_type
  })
}

/** The comments below a line that was changed. */
export function CommentsOn(props: { comments: readonly Comment[] }) {
  return (
    <div class="stack">
      {props.comments.map((comment, index) => (
        <CommentBox key={index} comment={comment} />
      ))}
    </div>
  )
}

function CommentBox({ comment }: { comment: Comment }) {
  return (
    <article class="comment stack tight">
      <p class="quiet">
        {comment.author ? <PersonLink of={comment.author} /> : 'Somebody'}{' '}
        <Time at={comment.created_at} />
      </p>
      <Markdown html={comment.html} />
    </article>
  )
}

interface CommitTalkProps {
  readonly address: string
  readonly talk: Talk
  /** The line that the next comment is on. */
  readonly at: {
    readonly path?: string | undefined
    readonly line?: number | undefined
    readonly line_type: 'new' | 'old'
  }
}

/** What is said of the commit as a whole, and the form for more. */
export function CommitTalk({ address, talk, at }: CommitTalkProps) {
  const whole = talk.comments.filter(({ path }) => path === null)
  const isOnLine = at.path !== undefined && at.line !== undefined
  return (
    <section class="stack" id="comment" aria-label="Comments">
      <h2>Comments</h2>
      {whole.length === 0 && <p class="quiet">Nobody has said anything of this commit.</p>}
      <CommentsOn comments={whole} />
      {talk.mayComment && (
        <Form action={`${address}/comments`} class="form" returnTo={address}>
          {isOnLine && (
            <>
              <p class="note">
                On line {at.line} of <span class="mono">{at.path}</span>
              </p>
              <input type="hidden" name="path" value={at.path} />
              <input type="hidden" name="line" value={at.line} />
              <input type="hidden" name="line_type" value={at.line_type} />
            </>
          )}
          <Field
            name="note"
            label="Comment"
            area={{ rows: 4, markdown: true }}
            hint="Markdown"
            input={{ required: true }}
          />
          <p>
            <button type="submit" class="button primary">
              Comment
            </button>
          </p>
        </Form>
      )}
    </section>
  )
}

export const commentForm = form({
  address: '/*project/-/commit/:sha/comments',
  summary: 'Comment on a commit',
  endpoint: createCommitComment,
  input: ({ path, fields: { note, path: file, line, line_type } }) => ({
    path: { id: path.project, sha: path.sha },
    body: { note, ...(file ? { path: file, line, line_type } : {}) },
  }),
  goTo: ({ path }) => pathOf(path.project, '-', 'commit', path.sha),
})
