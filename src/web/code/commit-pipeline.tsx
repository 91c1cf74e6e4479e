import { onProject } from '../../access/subjects.ts'
import { call, may } from '../../http/call/call.ts'
import { bytes, type DataOf, endpoint } from '../../http/endpoint.ts'
import { text } from '../../http/params.ts'
import { getSingleCommit } from '../../repositories/commits/endpoints.ts'
import { commitKey, stateText, watchedCommits } from '../../repositories/commits/live-pipeline.ts'
import { pathOf, withQuery } from '../address.ts'
import { useShown } from '../context.ts'
import { fragment } from '../fragment.ts'
import { liveEvents } from '../live-events.ts'
import type { PageCtx } from '../page-ctx.ts'
import { A, addressIn } from '../parts/link.tsx'
import { PipelineState } from '../parts/pipeline-state.tsx'
import { type ProjectData, readProjectFrame } from '../project/frame.tsx'

type Pipeline = DataOf<typeof getSingleCommit>['last_pipeline']

/** A commit whose pipeline is shown. */
type Piped = { readonly id: string; readonly last_pipeline: Pipeline }

const PART = 'commit-pipeline'

/** Whether this person is notified of pipelines of the project. */
export function mayFollowPipeline(ctx: PageCtx, project: ProjectData): Promise<boolean> {
  return may(commitPipelineEvents, ctx, { path: { id: String(project.id), sha: 'HEAD' } })
}

interface Props {
  readonly project: ProjectData
  readonly commit: Piped
  /** Whether it is drawn again when it changes; a page follows one thing. */
  readonly isFollowed: boolean
}

/** How the newest pipeline of a commit stands, as long as the page is open; nothing while there is none. */
export function CommitPipeline({ project, commit, isFollowed }: Props) {
  const shown = useShown()
  if (!isFollowed) return null
  const address = pathOf(project.path_with_namespace, '-', 'commit', commit.id)
  const seen = stateText(commit.last_pipeline)
  return (
    <span
      id={PART}
      data-live={addressIn(shown, withQuery(`${address}/pipeline_events`, { seen }))}
      data-live-src={addressIn(shown, `${address}/pipeline`)}
    >
      <PipelineLink pipeline={commit.last_pipeline} />
    </span>
  )
}

function PipelineLink({ pipeline }: { pipeline: Pipeline }) {
  if (!pipeline) return null
  return (
    <A href={pipeline.web_url} title={`Pipeline #${pipeline.id}`}>
      <PipelineState status={pipeline.status} />
    </A>
  )
}

export const commitPipelineFragment = fragment({
  address: '/*project/-/commit/:sha/pipeline',
  summary: 'How the newest pipeline of a commit stands',
  async read(ctx, { project: at, sha }) {
    const { project } = await readProjectFrame(ctx, at)
    const path = { id: project.id, sha }
    return await call(getSingleCommit, ctx, { path, query: { stats: false } })
  },
  view: ({ last_pipeline: pipeline }) => <PipelineLink pipeline={pipeline} />,
})

export const commitPipelineEvents = endpoint({
  method: 'GET',
  host: true,
  session: 'only',
  path: '/*id/-/commit/:sha/pipeline_events',
  summary:
    'What changes of the newest pipeline of a commit while a page is open, by server-sent events',
  access: onProject('read_builds'),
  params: { sha: text({ max: 64 }) },
  query: { seen: text({ max: 100 }).optional() },
  response: bytes('text/event-stream'),
  handler: ({ ctx, project, params: { sha }, query: { seen }, request }) =>
    liveEvents(ctx, request, {
      watched: watchedCommits,
      key: commitKey(project.id, sha),
      seen,
      partsOf: (changed) => (changed.length > 0 ? [PART] : []),
    }),
})
