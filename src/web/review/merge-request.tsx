import { integer, oneOf } from '../../http/params.ts'
import { apiPath } from '../address.ts'
import { useShown } from '../context.ts'
import { fragment } from '../fragment.ts'
import { Pages } from '../parts/basics.tsx'
import { Form } from '../parts/form.tsx'
import { Markdown } from '../parts/markdown.tsx'
import { MarkdownArea } from '../parts/markdown-area.tsx'
import { type ProjectData, projectPage, readProjectFrame } from '../project/frame.tsx'
import { Blockers } from './blockers.tsx'
import { Conflicts } from './conflicts/by-git.tsx'
import { type LivePart, liveParts } from './live-parts.ts'
import { Actions, MergeBox } from './merge-box.tsx'
import { Merged } from './merged.tsx'
import { THREADS } from './overview-threads.ts'
import { type RequestView, readRequest } from './request-data.ts'
import { Side } from './side.tsx'
import { followed, livePart, RequestHead, RequestSummary, requestAddress } from './state.tsx'
import { ThreadView } from './threads.tsx'

interface Props {
  readonly view: RequestView
  readonly project: ProjectData
}

const query = { page: integer({ min: 1 }).default(1) }

export const mergeRequestPage = projectPage({
  address: '/-/merge_requests/:iid',
  summary: 'A merge request',
  tab: 'merge_requests',
  query,
  api: ({ project, iid }) => apiPath(project, 'merge_requests', iid),
  read: (ctx, { project, iid, query: { page } }) => readRequest(ctx, project, iid, page),
  title: ({ request }) => `${request.title} · !${request.iid}`,
  view: (view, project) => <Request view={view} project={project} />,
})

function Request({ view, project }: Props) {
  const shown = useShown()
  const { request, html, threads, page } = view
  const address = requestAddress(project, request.iid)
  const live = (part: LivePart) => livePart(shown, address, part, { page })
  return (
    <div class="stack" {...followed(shown, address, view.seen)}>
      <RequestHead project={project} request={request} current="" live={live('request-summary')} />
      <div class="with-side">
        <div class="stack">
          <div class="stack" {...live('request-state')}>
            <StatePart view={view} project={project} />
          </div>
          <section class="box" aria-label="Description">
            <div class="box-body">
              {html === '' ? <p class="quiet">No description</p> : <Markdown html={html} />}
            </div>
          </section>
          <section class="stack" aria-label="Threads" {...live('request-threads')}>
            <ThreadsPart view={view} project={project} />
          </section>
          {threads.mayComment && <CommentForm address={address} />}
        </div>
        <aside class="stack side" aria-label="Facts" {...live('request-side')}>
          <Side view={view} address={address} />
        </aside>
      </div>
    </div>
  )
}

/** Whether it can be merged, why not, and what this person can do about it. */
function StatePart({ view, project }: Props) {
  const { request, approvals, may, messages } = view
  const facts = { request, approvals, may, messages, address: requestAddress(project, request.iid) }
  const isOpen = request.state === 'opened'
  return (
    <>
      {isOpen && <Blockers {...facts} />}
      {isOpen && request.has_conflicts && <Conflicts request={request} project={project} />}
      {request.merge_error && <p class="note alert">{request.merge_error}</p>}
      {isOpen && <MergeBox {...facts} />}
      {request.state === 'merged' && <Merged view={view} project={project} />}
      <Actions {...facts} />
    </>
  )
}

function ThreadsPart({ view: { threads, page, request }, project }: Props) {
  const address = requestAddress(project, request.iid)
  return (
    <>
      {!threads.mayRead && <p class="quiet">Sign in to read what people say about it.</p>}
      {threads.threads.map((thread) => (
        <ThreadView
          key={thread.id}
          thread={thread}
          address={address}
          mayComment={threads.mayComment}
          mayApply={threads.mayApply}
        />
      ))}
      <Pages page={page} perPage={THREADS} total={threads.total} address={address} />
    </>
  )
}

/** The parts of the page that follow the merge request while it is open. */
export const mergeRequestPart = fragment({
  address: '/*project/-/merge_requests/:iid/parts/:part',
  summary: 'A part of the page of a merge request',
  query,
  async read(ctx, { project: path, iid, part, query: { page } }) {
    const { project } = await readProjectFrame(ctx, path)
    const known = oneOf(liveParts).safeParse(part)
    return { project, part: known.data, view: await readRequest(ctx, project, iid, page) }
  },
  standsOn: ({ project, view }) => requestAddress(project, view.request.iid),
  view: ({ project, part, view }) => {
    if (part === 'request-summary') return <RequestSummary request={view.request} />
    if (part === 'request-state') return <StatePart view={view} project={project} />
    if (part === 'request-threads') return <ThreadsPart view={view} project={project} />
    return <Side view={view} address={requestAddress(project, view.request.iid)} />
  },
})

function CommentForm({ address }: { address: string }) {
  return (
    <Form action={`${address}/discussions`} class="stack tight">
      <label class="label-text" for="comment">
        Comment
      </label>
      <MarkdownArea id="comment" name="body" rows={4} required />
      <p>
        <button type="submit" class="button primary">
          Comment
        </button>
      </p>
    </Form>
  )
}
