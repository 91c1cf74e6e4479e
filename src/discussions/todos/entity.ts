import { z } from 'zod'
import { presentProjectIdentity, projectIdentityEntity } from '../../access/project-identity.ts'
import { existing } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { GitError } from '../../git/error.ts'
import { readCommits } from '../../git/objects/commit.ts'
import { presentUserBasic, userBasicEntity } from '../../identity/users/basic.ts'
import { namespaceBriefEntity, presentNamespaceBrief } from '../../projects/namespaces/entity.ts'
import type { findTodo } from './queries.ts'
import { findTodoContext } from './queries.ts'

/** An issue or merge request as a list shows it, or an alert; the first two are other resources'. */
const workEntity = z.looseObject({
  id: z.int(),
  iid: z.int(),
  project_id: z.int(),
  title: z.string(),
  description: z.string().nullable(),
  state: z.string(),
  created_at: z.string(),
  updated_at: z.string(),
  web_url: z.string(),
})

const commitEntity = z.strictObject({
  id: z.string(),
  short_id: z.string(),
  title: z.string(),
  message: z.string(),
  author_name: z.string(),
  author_email: z.string(),
  created_at: z.string(),
  web_url: z.string(),
})

export const todoEntity = z.strictObject({
  id: z.int(),
  project: projectIdentityEntity.nullable(),
  group: namespaceBriefEntity.nullable(),
  author: userBasicEntity.nullable(),
  action_name: z.string(),
  target_type: z.string(),
  target: z
    .union([workEntity, commitEntity, projectIdentityEntity, namespaceBriefEntity])
    .nullable(),
  target_url: z.string(),
  body: z.string(),
  state: z.enum(['pending', 'done']),
  created_at: z.string(),
  updated_at: z.string(),
})

/** What clients call the types that are called otherwise here (docs/contract/D §1.29). */
export const PUBLIC_TYPES: Readonly<Record<string, string>> = { Alert: 'AlertManagement::Alert' }

type Todo = z.input<typeof todoEntity>
type Target = Todo['target']
type Context = Awaited<ReturnType<typeof findTodoContext>>

export type TodoRow = NonNullable<Awaited<ReturnType<typeof findTodo>>>

/** To-dos with what they are about (docs/contract/D §1.29), which is read for all at once. */
export async function presentTodos(ctx: Ctx, rows: readonly TodoRow[]): Promise<Todo[]> {
  const shown: Shown = new Map()
  for (const type of ['Issue', 'MergeRequest'] as const) {
    const ids = rows.flatMap((row) => (row.target_type === type ? [row.target_id] : []))
    if (ids.length === 0) continue
    const targets = await ctx.readers.todoTargets[type](ctx, ids)
    for (const target of targets) shown.set(`${type} ${target.id}`, target)
  }
  return Promise.all(rows.map((row) => present(ctx, row, shown)))
}

type Shown = Map<string, Readonly<Record<string, unknown>>>

export async function presentTodo(ctx: Ctx, row: TodoRow): Promise<Todo> {
  const [todo] = await presentTodos(ctx, [row])
  return existing(todo)
}

async function present(ctx: Ctx, row: TodoRow, shown: Shown): Promise<Todo> {
  const found = await findTodoContext(ctx.db, row)
  const { author, note } = found
  const project = found.project ? presentProjectIdentity(found.project) : null
  const group = found.group ? presentNamespaceBrief(ctx, { ...found.group, owner_id: null }) : null
  const target = await targetOf(ctx, row, found, { project, group }, shown)
  const url = urlOf(ctx, row, found)
  return {
    id: row.id,
    project,
    group,
    author: author ? presentUserBasic(ctx, author) : null,
    action_name: row.action_name,
    target_type: PUBLIC_TYPES[row.target_type] ?? row.target_type,
    target,
    target_url: row.note_id === null ? url : `${url}#note_${row.note_id}`,
    body: note?.body ?? bodyOf(target),
    state: row.state,
    created_at: row.created_at,
    updated_at: row.updated_at,
  }
}

function urlOf(ctx: Ctx, row: TodoRow, { project, group, target }: Context): string {
  const base = `${ctx.config.externalUrl}/${project?.full_path ?? ''}`
  switch (row.target_type) {
    case 'Namespace':
      return `${ctx.config.externalUrl}/groups/${group?.full_path ?? ''}/-/group_members?tab=access_requests`
    case 'Project':
      return `${base}/-/project_members?tab=access_requests`
    case 'Alert':
      return `${base}/-/alert_management/${target?.iid ?? 0}/details`
    case 'Commit':
      return `${base}/-/commit/${row.commit_id}`
    default:
      return `${base}/-/${row.target_type === 'Issue' ? 'issues' : 'merge_requests'}/${target?.iid ?? 0}`
  }
}

function bodyOf(target: Target): string {
  if (target && 'title' in target) return target.title
  return target?.name ?? ''
}

async function targetOf(
  ctx: Ctx,
  row: TodoRow,
  found: Context,
  own: Pick<Todo, 'project' | 'group'>,
  shown: Shown,
): Promise<Target> {
  if (row.target_type === 'Project') return own.project
  if (row.target_type === 'Namespace') return own.group
  if (row.target_type === 'Commit') return commitOf(ctx, row, urlOf(ctx, row, found))
  const { target } = found
  return {
    id: row.target_id,
    iid: target?.iid ?? 0,
    project_id: row.project_id ?? 0,
    title: target?.title ?? '',
    description: target?.description ?? null,
    state: target?.state ?? 'closed',
    created_at: target?.created_at ?? row.created_at,
    updated_at: target?.updated_at ?? row.updated_at,
    web_url: urlOf(ctx, row, found),
    ...shown.get(`${row.target_type} ${row.target_id}`),
  }
}

/** The commit, or null when the repository has it no more. */
async function commitOf(
  ctx: Ctx,
  row: TodoRow,
  url: string,
): Promise<z.input<typeof commitEntity> | null> {
  if (row.project_id === null || row.commit_id === null) return null
  try {
    const [commit] = await readCommits(ctx.git.open(row.project_id), [row.commit_id])
    if (!commit) return null
    return {
      id: commit.id,
      short_id: commit.id.slice(0, 8),
      title: commit.title,
      message: commit.message,
      author_name: commit.author.name,
      author_email: commit.author.email,
      created_at: commit.committer.date,
      web_url: url,
    }
  } catch (error) {
    if (error instanceof GitError) return null
    throw error
  }
}
