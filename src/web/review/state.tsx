import { pathOf, withQuery } from '../address.ts'
import type { Shown } from '../context.ts'
import { State } from '../parts/basics.tsx'
import { A, type Attributes, addressIn } from '../parts/link.tsx'
import { PipelineState } from '../parts/pipeline-state.tsx'
import type { LivePart } from './live-parts.ts'

/** Whether a merge request is open, waits for its author, was merged or closed. */
export function RequestState({ state, draft }: { state: string; draft: boolean }) {
  if (state === 'merged') {
    return (
      <State kind="merged" icon="git-merge">
        Merged
      </State>
    )
  }
  if (state === 'closed') {
    return (
      <State kind="removed" icon="git-pull-request-closed">
        Closed
      </State>
    )
  }
  if (draft) {
    return (
      <State kind="waiting" icon="git-pull-request-draft">
        Draft
      </State>
    )
  }
  return (
    <State kind="open" icon="git-pull-request">
      Open
    </State>
  )
}

export interface RequestFacts {
  readonly iid: number
  readonly title: string
  readonly state: string
  readonly draft: boolean
  readonly source_branch: string
  readonly target_branch: string
  readonly head_pipeline?: { readonly status: string } | null
}

/** The address of a merge request of a project, or of a page below it. */
export function requestAddress(
  project: { readonly path_with_namespace: string },
  iid: number | string,
  ...more: readonly string[]
): string {
  return pathOf(project.path_with_namespace, '-', 'merge_requests', iid, ...more)
}

const views = [
  ['', 'Overview'],
  ['commits', 'Commits'],
  ['pipelines', 'Pipelines'],
  ['diffs', 'Changes'],
] as const

/** What makes a page of a merge request follow it, for its outermost element. */
export function followed(shown: Shown, address: string, seen: string): Attributes {
  return { 'data-live': addressIn(shown, withQuery(`${address}/events`, { seen })) }
}

/** What makes a part of such a page one that is drawn again when it has changed. */
export function livePart(
  shown: Shown,
  address: string,
  part: LivePart,
  query: Readonly<Record<string, number>> = {},
): Attributes {
  const source = withQuery(`${address}/parts/${part}`, query)
  return { id: part, 'data-live-src': addressIn(shown, source) }
}

interface HeadProps {
  readonly project: { readonly path_with_namespace: string }
  readonly request: RequestFacts
  readonly current: (typeof views)[number][0]
  /** What makes its state follow the merge request. */
  readonly live?: Attributes
}

/** Its state, and from where it goes where. */
export function RequestSummary({ request }: Pick<HeadProps, 'request'>) {
  return (
    <>
      <RequestState state={request.state} draft={request.draft} />
      <span class="quiet">
        <code>{request.source_branch}</code> into <code>{request.target_branch}</code>
      </span>
      {request.head_pipeline && (
        <span title="Pipeline">
          <PipelineState status={request.head_pipeline.status} />
        </span>
      )}
    </>
  )
}

/** What all pages of a merge request begin with. */
export function RequestHead({ project, request, current, live = {} }: HeadProps) {
  return (
    <header class="stack tight">
      <h1>
        {request.title} <span class="quiet">!{request.iid}</span>
      </h1>
      <p class="row" {...live}>
        <RequestSummary request={request} />
      </p>
      <nav class="tabs" aria-label="Merge request">
        {views.map(([view, label]) => (
          <A
            key={view}
            href={requestAddress(project, request.iid, ...(view === '' ? [] : [view]))}
            {...(view === current ? { 'aria-current': 'page' } : {})}
          >
            {label}
          </A>
        ))}
      </nav>
    </header>
  )
}
