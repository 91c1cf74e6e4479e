import type { ComponentChildren } from 'preact'
import { call } from '../../../http/call/call.ts'
import { integer, text } from '../../../http/params.ts'
import { getMergeRequestApprovals } from '../../../review/approvals/request-endpoints.ts'
import { apiPath, withQuery } from '../../address.ts'
import { useShown } from '../../context.ts'
import { fragment } from '../../fragment.ts'
import type { PageCtx } from '../../page-ctx.ts'
import { Blank } from '../../parts/basics.tsx'
import { type ProjectData, projectPage, readProjectFrame } from '../../project/frame.tsx'
import { followed, livePart, RequestHead } from '../state.tsx'
import { SuggestionBatch } from '../suggestions.tsx'
import { ThreadView } from '../threads.tsx'
import { showThreads } from '../threads-data.ts'
import {
  type ChangedFile,
  type ChangeSet,
  changesAddress,
  changesQuery,
  type FileDiff,
  readChangeSet,
  readDiffs,
} from './change-set.ts'
import { FileBody, isFolded, LaterFile, LaterFiles, WholeFile } from './changed-file.tsx'
import { ChangesBar } from './changes-bar.tsx'
import { ChangesTree } from './changes-tree.tsx'
import { showDraft } from './drafts.tsx'
import { type FileTalk, mayApplySuggestions, readTalk } from './file-talk.ts'
import { isIn, positionOf } from './lines.ts'
import { ReviewForm } from './review-form.tsx'

/** What the first screen holds; all else comes when it is seen. */
const FIRST_FILES = 20
const FIRST_LINES = 1500
/** Heads of files that are drawn together: a large change is thousands of them. */
const HEADS = 50

interface ReadFile {
  readonly file: ChangedFile
  readonly diff: FileDiff | undefined
  readonly talk: FileTalk
}

function firstFiles(files: readonly ChangedFile[]): ChangedFile[] {
  const first: ChangedFile[] = []
  let lines = 0
  for (const file of files) {
    if (isFolded(file)) continue
    lines += (file.additions ?? 0) + (file.deletions ?? 0)
    if (first.length > 0 && (first.length === FIRST_FILES || lines > FIRST_LINES)) break
    first.push(file)
  }
  return first
}

async function readFiles(
  ctx: PageCtx,
  set: ChangeSet,
  files: readonly ChangedFile[],
): Promise<ReadFile[]> {
  const diffs = await readDiffs(ctx, set, files)
  return await Promise.all(
    files.map(async (file) => {
      const diff = diffs.get(file.new_path)
      return { file, diff, talk: await readTalk(ctx, set, file, diff) }
    }),
  )
}

/** Drafts about no line, and threads on files that do not change any more. */
async function readRest(ctx: PageCtx, set: ChangeSet) {
  const { project, request, files } = set
  const path = { id: project.id, merge_request_iid: request.iid }
  const lost = set.threads.filter((thread) => {
    const position = positionOf(thread)
    return position !== undefined && !files.some((file) => isIn(position, file))
  })
  const general = set.drafts.filter(({ position }) => position === null)
  const [approvals, mayApply, threads, drafts] = await Promise.all([
    set.signedIn ? call(getMergeRequestApprovals, ctx, { path }) : undefined,
    mayApplySuggestions(ctx, set),
    set.query.since === undefined ? showThreads(ctx, project, path, lost) : [],
    Promise.all(general.map((draft) => showDraft(ctx, project, draft, undefined))),
  ])
  return {
    approvals,
    mayApply,
    threads,
    drafts,
    me: ctx.actor.kind === 'user' ? ctx.actor.user.id : 0,
  }
}

export const mergeRequestDiffsPage = projectPage({
  address: '/-/merge_requests/:iid/diffs',
  summary: 'Changes of a merge request',
  tab: 'merge_requests',
  query: { ...changesQuery, file: text({ max: 4096 }).optional() },
  api: ({ project, iid, query: { version, since } }) => {
    const range = { version_id: version, since_version_id: since }
    return withQuery(apiPath(project, 'merge_requests', iid, 'changed_files'), range)
  },
  async read(ctx, { project, iid, query: { file: only, ...query } }) {
    const set = await readChangeSet(ctx, project, iid, query)
    const shown = only === undefined ? set.files : set.files.filter((one) => one.new_path === only)
    const first = only === undefined ? firstFiles(shown.slice(0, HEADS)) : shown
    const [read, rest] = await Promise.all([readFiles(ctx, set, first), readRest(ctx, set)])
    return { set, shown, read: new Map(read.map((one) => [one.file, one])), rest, only }
  },
  title: ({ set: { request } }) => `Changes of ${request.title} · !${request.iid}`,
  view: ({ set, shown, read, rest, only }, project) => (
    <Followed set={set}>
      <FollowedHead set={set} project={project} />
      <div class="row between changes-bar">
        <ChangesBar set={set} only={only} />
        {set.mayComment && <Review set={set} rest={rest} />}
      </div>
      {set.files.length === 0 && <Blank icon="file-diff" title="No changes" />}
      <div class="with-tree">
        <ChangesTree set={set} />
        <div class="diffs">
          {rest.mayApply && hasSuggestions(set) && <SuggestionBatch address={set.address} />}
          {shown.slice(0, HEADS).map((file) => {
            const whole = read.get(file)
            if (whole) return <WholeFile key={file.new_path} set={set} {...whole} />
            return <LaterFile key={file.new_path} set={set} file={file} open={!isFolded(file)} />
          })}
          {laterStarts(shown).map((start) => (
            <LaterFiles key={start} set={set} start={start} count={HEADS} />
          ))}
          {rest.threads.length > 0 && <LostThreads set={set} rest={rest} />}
        </div>
      </div>
    </Followed>
  ),
})

/** The page, whose head follows the merge request. */
function Followed({ set, children }: { set: ChangeSet; children: ComponentChildren }) {
  return (
    <div class="stack" {...followed(useShown(), set.address, set.seen)}>
      {children}
    </div>
  )
}

function FollowedHead({ set, project }: { set: ChangeSet; project: ProjectData }) {
  const live = livePart(useShown(), set.address, 'request-summary')
  return <RequestHead project={project} request={set.request} current="diffs" live={live} />
}

/** Where the files begin whose heads come when somebody comes near; one file alone is never among them. */
function laterStarts({ length }: readonly ChangedFile[]): number[] {
  return Array.from({ length: Math.ceil(length / HEADS) - 1 }, (_, index) => (index + 1) * HEADS)
}

type Rest = Awaited<ReturnType<typeof readRest>>

function hasSuggestions({ threads }: ChangeSet): boolean {
  const all = threads.flatMap(({ notes }) => notes.flatMap(({ suggestions }) => suggestions ?? []))
  return all.filter(({ appliable }) => appliable).length > 1
}

function Review({ set, rest }: { set: ChangeSet; rest: Rest }) {
  const { request, drafts, address } = set
  const { approvals } = rest
  return (
    <ReviewForm
      address={address}
      drafts={drafts.length}
      general={rest.drafts}
      sha={request.sha}
      mayApprove={
        request.state === 'opened' &&
        approvals?.user_can_approve === true &&
        !approvals.user_has_approved
      }
      needsPassword={approvals?.require_password_to_approve === true}
      mayRequestChanges={
        request.state === 'opened' && request.reviewers.some(({ id }) => id === rest.me)
      }
    />
  )
}

function LostThreads({ set, rest }: { set: ChangeSet; rest: Rest }) {
  return (
    <section class="stack" aria-labelledby="lost">
      <h2 id="lost">Threads on files that are not changed any more</h2>
      {rest.threads.map((thread) => (
        <ThreadView
          key={thread.id}
          thread={thread}
          address={set.address}
          mayComment={set.mayComment}
          mayApply={false}
        />
      ))}
    </section>
  )
}

export const laterFilesFragment = fragment({
  address: '/*project/-/merge_requests/:iid/diffs/files',
  summary: 'Some of the files that a merge request changes, without their lines',
  query: { ...changesQuery, start: integer({ min: 0 }).default(0) },
  async read(ctx, { project: projectPath, iid, query: { start, ...query } }) {
    const { project } = await readProjectFrame(ctx, projectPath)
    const set = await readChangeSet(ctx, project, iid, query)
    return { set, files: set.files.slice(start, start + HEADS) }
  },
  standsOn: ({ set }) => changesAddress(set),
  view: ({ set, files }) =>
    files.map((file) => (
      <LaterFile key={file.new_path} set={set} file={file} open={!isFolded(file)} />
    )),
})

export const changedFileFragment = fragment({
  address: '/*project/-/merge_requests/:iid/diffs/file',
  summary: 'What a merge request changes in one file',
  query: { ...changesQuery, file: text({ max: 4096 }), part: text({ max: 10 }).optional() },
  async read(ctx, { project: projectPath, iid, query: { file: name, part, ...query } }) {
    const { project } = await readProjectFrame(ctx, projectPath)
    const set = await readChangeSet(ctx, project, iid, query)
    const files = set.files.filter((one) => one.new_path === name)
    return { set, part, read: await readFiles(ctx, set, files) }
  },
  standsOn: ({ set }) => changesAddress(set),
  view: ({ set, part, read: [one] }) => {
    if (!one) return <p class="box-body quiet">This file is not changed any more.</p>
    return part === 'body' ? (
      <FileBody set={set} {...one} />
    ) : (
      <WholeFile set={set} {...one} renewed />
    )
  },
})
