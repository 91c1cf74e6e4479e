import { isAdmin, userOf } from '../../../access/actor.ts'
import { type Condition, condition } from '../../../access/conditions.ts'
import { type Conditions, mayInGroup, mayInProject } from '../../../access/decide.ts'
import type { Visibility } from '../../../access/roles.ts'
import {
  findVisibleGroup,
  findVisibleProject,
  type Group,
  type Project,
} from '../../../access/subjects.ts'
import {
  existing,
  forbidden,
  invalid,
  notFound,
  type Problem,
  unauthorized,
} from '../../../base/problem.ts'
import type { Ctx } from '../../../ctx.ts'
import { type SharedRunners, sharedRunnersOf } from '../../namespaces/shared-runners.ts'
import {
  findNamespaceRow,
  findNamespaceRowByPath,
  findPersonalNamespace,
  findProjectQuota,
} from '../queries.ts'

/** A namespace into which the caller may put a project. */
export interface TargetNamespace {
  readonly id: number
  readonly kind: 'user' | 'group'
  readonly name: string
  readonly fullPath: string
  readonly visibility: Visibility
  /** What it says of the runners of the instance. */
  readonly sharedRunners: SharedRunners
  /** Whose the namespace is, for a user's own. */
  readonly ownerId: number | null
}

type NamespaceRow = NonNullable<Awaited<ReturnType<typeof findNamespaceRow>>>

function target(row: NamespaceRow): TargetNamespace {
  return {
    id: row.id,
    kind: row.kind,
    name: row.name,
    fullPath: row.full_path,
    visibility: row.kind === 'user' ? 'public' : row.visibility,
    sharedRunners: sharedRunnersOf(JSON.parse(row.settings)),
    ownerId: row.owner_id,
  }
}

/** Who makes projects in a group, as its `project_creation_level` has it (docs/contract/D §1.3, §2.3). */
function creationConditions({ project_creation_level: level }: Group): Conditions {
  return {
    for_developers: level === 'developer',
    for_maintainers: level === 'maintainer',
    for_owners: level === 'owner',
  }
}

const notValid = () => invalid({ namespace: ['is not valid'] })

/**
 * The namespace of this id or path if the caller may put projects there: 404 when hidden, 400 `namespace is not valid`
 * when seen but closed (docs/contract/D §1.2 Rules), or what `refuse` makes; 403 when the caller's own is full. Without a
 * name, the caller's own.
 */
export async function getTargetNamespace(
  ctx: Ctx,
  wanted: number | string | undefined,
  refuse: () => Problem = notValid,
): Promise<TargetNamespace> {
  const user = userOf(ctx.actor)
  if (wanted === undefined) {
    if (!user) throw unauthorized()
    const own = await findPersonalNamespace(ctx.db, user.id)
    if (!own || user.external) throw forbidden()
    await assertQuota(ctx, user.id)
    return target(own)
  }
  const numeric = typeof wanted === 'number' || /^\d+$/.test(wanted)
  const row = numeric
    ? await findNamespaceRow(ctx.db, Number(wanted))
    : await findNamespaceRowByPath(ctx.db, String(wanted))
  if (!row) throw notFound('Namespace')
  if (row.kind === 'user') return await personalTarget(ctx, row)
  const group = existing(await findVisibleGroup(ctx, String(row.id)), 'Namespace')
  if (!mayInGroup(ctx.actor, group, 'create_project', creationConditions(group))) throw refuse()
  return target(row)
}

async function personalTarget(ctx: Ctx, row: NamespaceRow): Promise<TargetNamespace> {
  const user = userOf(ctx.actor)
  const own = user !== null && row.owner_id === user.id
  if (!own && !isAdmin(ctx.actor)) throw notFound('Namespace')
  if (own && user.external && !isAdmin(ctx.actor)) throw forbidden()
  await assertQuota(ctx, row.owner_id ?? 0)
  return target(row)
}

async function assertQuota(ctx: Ctx, userId: number): Promise<void> {
  const quota = await findProjectQuota(ctx.db, userId)
  if (!quota || (quota.count ?? 0) < quota.projects_limit) return
  throw forbidden(`You've reached your limit of ${quota.projects_limit} projects created.`)
}

/**
 * The project whose files a new one is to begin with: any whose code the caller may download. There are no templates of
 * other kinds here, which have names.
 */
export async function findTemplate(
  ctx: Ctx,
  asked: {
    readonly template_name?: string | undefined
    readonly template_project_id?: number | string | undefined
  },
): Promise<Project | undefined> {
  const { template_name: name, template_project_id: wanted } = asked
  const unknown = (value: number | string) =>
    invalid({ template_name: [`'${value}' is unknown or invalid`] })
  if (name) throw unknown(name)
  if (!wanted) return undefined
  const project = await findVisibleProject(ctx, String(wanted))
  const isReadable = project && mayInProject(ctx.actor, project, 'download_code')
  if (!isReadable || project.empty_repo === 1) throw unknown(wanted)
  return project
}

/** A project is made in, or moved into, a namespace where the caller may create projects. */
export function createsProjectIn<F extends string>(
  field: F,
): Condition<{
  readonly ctx: Ctx
  readonly body: Readonly<Partial<Record<F, number | string | undefined>>>
}> {
  return condition(`${field}: create_project`, async ({ ctx, body }) => {
    await getTargetNamespace(ctx, body[field])
    return true as const
  })
}
