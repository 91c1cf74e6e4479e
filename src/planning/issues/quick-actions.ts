import { getVisibleProject, type Project } from '../../access/subjects.ts'
import type { Ctx } from '../../ctx.ts'
import { assigneesBySubject } from '../assignees/verbs.ts'
import { labelsBySubject } from '../labels/set-labels.ts'
import type {
  CommandContext,
  CommandEdits,
  CommandTable,
} from '../quick-actions/command-context.ts'
import { generalCommands } from '../quick-actions/general.ts'
import { quickActions } from '../quick-actions/run.ts'
import { planningCommands } from '../quick-actions/sorting.ts'
import type { Timed } from '../time-tracking/verbs.ts'
import { getIssueElsewhere, issueRights, mayTakeIssues } from './access.ts'
import { changeIssue, editIssue } from './change-issue.ts'
import { getRow } from './create-issue.ts'
import { asNoteable } from './find.ts'
import { type LinkType, linkIssues } from './links/link-issues.ts'
import { markDuplicate } from './links/mark-duplicate.ts'
import { moveIssue } from './move-issue.ts'
import { type IssueRow, updateIssue } from './queries.ts'

interface IssueContext extends CommandContext {
  readonly row: IssueRow
  readonly mayMove: boolean
}

/** How the time of issues is kept. */
export const issueTimed: Timed = {
  type: 'issue',
  edit: (ctx, { id, noteable }, change) => editIssue(ctx, noteable.project, id, change),
  saveEstimate: (ctx, { id }, seconds) => updateIssue(ctx.db, id, { time_estimate: seconds }),
}

/** The issue that an argument names, by `#1`, `group/project#1` or its address, if the caller may see it. */
async function issueIn(ctx: Ctx, project: Project, argument: string) {
  const url = ctx.config.externalUrl
  const plain = argument.startsWith(`${url}/`)
    ? argument.slice(url.length + 1).replace('/-/issues/', '#')
    : argument
  const found = /^([\w./-]*)#(\d{1,9})$/.exec(plain)
  if (!found) return undefined
  const place = found[1] ? await getVisibleProject(ctx, found[1]) : project
  return { project: place, row: await getIssueElsewhere(ctx, place, Number(found[2])) }
}

function hide(confidential: boolean) {
  return (_: Ctx, context: IssueContext) => {
    if (!context.mayChange || (context.row.confidential === 1) === confidential) return undefined
    context.edits.confidential = confidential
    const message = confidential
      ? 'Made this issue confidential.'
      : 'Made this issue visible to everyone.'
    return { changes: { confidential }, message }
  }
}

async function duplicate(ctx: Ctx, context: IssueContext, argument: string) {
  const canonical = context.maySort ? await issueIn(ctx, context.project, argument) : undefined
  if (!canonical || canonical.row.id === context.id) return undefined
  return {
    changes: { canonical_issue_id: canonical.row.id },
    message: `Closed this issue. Marked as related to, and a duplicate of, ${argument}.`,
    act: async () => markDuplicate(ctx, context.project, await getRow(ctx, context.id), canonical),
  }
}

function link(type: LinkType, said: (names: string) => string) {
  return async (ctx: Ctx, context: IssueContext, argument: string) => {
    const names = argument.split(/[\s,]+/).filter((name) => name !== '')
    const others: IssueRow[] = []
    for (const name of context.maySort ? names.slice(0, 20) : []) {
      const other = await issueIn(ctx, context.project, name)
      if (other && other.row.id !== context.id) others.push(other.row)
    }
    if (others.length === 0) return undefined
    return {
      message: said(names.join(', ')),
      async act() {
        for (const other of others) await linkIssues(ctx, context.project, context.row, other, type)
      },
    }
  }
}

async function move(ctx: Ctx, context: IssueContext, argument: string) {
  if (!context.mayMove || argument === '' || context.row.moved_to_id !== null) return undefined
  const target = await getVisibleProject(ctx, argument)
  if (target.id === context.project.id || !mayTakeIssues(ctx, target)) return undefined
  return {
    changes: { target_project: { id: target.id, path_with_namespace: target.full_path } },
    message: `Moved this issue to ${target.full_path}.`,
    act: async () =>
      void (await moveIssue(ctx, context.project, await getRow(ctx, context.id), target)),
  }
}

async function copyMetadata(ctx: Ctx, context: IssueContext, argument: string) {
  const source = context.maySort ? await issueIn(ctx, context.project, argument) : undefined
  if (!source) return undefined
  const labels = (await labelsBySubject(ctx, 'issue', [source.row.id])).get(source.row.id) ?? []
  context.edits.add_labels = [
    ...(context.edits.add_labels ?? []),
    ...labels.map((label) => label.title),
  ]
  if (source.row.milestone_id !== null) context.edits.milestone_id = source.row.milestone_id
  return {
    changes: {
      add_label_ids: labels.map((label) => label.id),
      milestone_id: source.row.milestone_id,
    },
    message: `Copied labels and milestone from ${argument}.`,
  }
}

function promote(_: Ctx, context: IssueContext) {
  if (!context.maySort || context.row.issue_type !== 'issue') return undefined
  context.edits.issue_type = 'incident'
  return { changes: { issue_type: 'incident' }, message: 'Issue has been promoted to incident.' }
}

const commands: CommandTable<IssueContext> = {
  ...generalCommands,
  ...planningCommands,
  confidential: hide(true),
  duplicate,
  relate: link('relates_to', (names) => `Marked this issue as related to ${names}.`),
  blocks: link('blocks', (names) => `Marked this issue as blocking ${names}.`),
  blocked_by: link('is_blocked_by', (names) => `Marked this issue as blocked by ${names}.`),
  move,
  copy_metadata: copyMetadata,
  promote_to_incident: promote,
}
export const {
  take: takeIssueCommands,
  run: runIssueCommands,
  read: readIssueCommands,
} = quickActions(commands, async (ctx, project, id) =>
  contextOf(ctx, project, await getRow(ctx, id)),
)

async function contextOf(ctx: Ctx, project: Project, row: IssueRow): Promise<IssueContext> {
  const [labels, assignees] = await Promise.all([
    labelsBySubject(ctx, 'issue', [row.id]),
    assigneesBySubject(ctx, 'issue', [row.id]),
  ])
  const assigneeIds = (assignees.get(row.id) ?? []).map((user) => user.id)
  const { takesPart, ...rights } = issueRights(ctx, project, row, assigneeIds)
  const noteable = { ...asNoteable(ctx, project, row), id: row.id }
  return {
    word: 'issue',
    row,
    id: row.id,
    project,
    noteable,
    title: row.title,
    state: row.state,
    locked: row.discussion_locked === 1,
    milestoneId: row.milestone_id,
    labels: (labels.get(row.id) ?? []).map((label) => label.title),
    assigneeIds,
    reviewerIds: [],
    ...rights,
    timed: issueTimed,
    timedSubject: { id: row.id, estimate: row.time_estimate, noteable },
    edits: {},
    followsByDefault: async () => takesPart,
    save: (ctx, edits) => save(ctx, project, row, edits),
  }
}

async function save(ctx: Ctx, project: Project, row: IssueRow, edits: CommandEdits) {
  const { add_labels: add, remove_labels: remove, ...rest } = edits
  const { reviewer_ids: _, target_branch: __, ...changes } = rest
  await changeIssue(ctx, project, row, { ...changes, add, remove })
}
