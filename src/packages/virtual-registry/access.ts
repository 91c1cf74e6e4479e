import { isAdmin, userOf } from '../../access/actor.ts'
import { mayJobReachGroup } from '../../access/authentication/job-token.ts'
import { isInGroup } from '../../access/authentication/job-token-queries.ts'
import { condition } from '../../access/conditions.ts'
import { isMemberBelow } from '../../access/find-queries.ts'
import { Role } from '../../access/roles.ts'
import { type Access, findVisibleGroup, type Group } from '../../access/subjects.ts'
import { dayOf } from '../../base/clock.ts'
import { badRequest, forbidden, notFound, unauthorized } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { type EntryRow, findEntry } from './entry-queries.ts'
import {
  findLink,
  findRegistry,
  findUpstream,
  type RegistryRow,
  type UpstreamRow,
} from './queries.ts'

type Change = 'read' | 'write'

/** The feature's name, and its later one (docs/contract/C-resolved §4.2). */
const FLAGS = ['virtual_registry_maven', 'maven_virtual_registry']

function requireSignedIn(ctx: Ctx): void {
  const isOffered = FLAGS.every((name) => ctx.settings.offers(name))
  if (ctx.actor.kind === 'anonymous' || !isOffered) throw unauthorized()
}

const common = { kind: 'custom', subjectFirst: false, before: requireSignedIn } as const
const needs = (change: Change) =>
  change === 'read' ? 'read_virtual_registry' : 'admin_virtual_registry'

/** Members of the group or of anything below it read; its Maintainers change. */
async function assertMay(ctx: Ctx, group: Group, change: Change): Promise<void> {
  if (isAdmin(ctx.actor)) return
  if (change === 'write' ? group.role >= Role.maintainer : group.role >= Role.guest) return
  const user = (await isWithinReach(ctx, group)) ? userOf(ctx.actor) : null
  const isBelow = user && (await isMemberBelow(ctx.db, user.id, group.id, dayOf(ctx.now())))
  if (change === 'read' && isBelow) return
  throw forbidden()
}

/** A job is its user in the groups above its project alone (docs/contract/D §2.5). */
async function isWithinReach({ db, actor }: Ctx, group: Group): Promise<boolean> {
  return actor.kind !== 'job' || (await mayJobReachGroup(db, actor, group.id))
}

/** The group of a registry or upstream, for those who may do this there; else as if nothing were there. */
async function admit(ctx: Ctx, groupId: number, change: Change, thing: string): Promise<Group> {
  const group = await findVisibleGroup(ctx, String(groupId))
  if (!group) throw notFound(thing)
  await assertMay(ctx, group, change)
  return group
}

/** A top-level group; the answer for a subgroup depends on what was asked for. */
export function onVirtualGroup(
  change: Change,
  options: { readonly ofUpstreams?: true } = {},
): Access<{ group: Group }> {
  return {
    ...common,
    param: 'id',
    needs: needs(change),
    async find({ ctx, path }) {
      const group = await findVisibleGroup(ctx, path.id ?? '')
      if (!group) throw notFound('Group')
      if (group.parent_id !== null) {
        throw options.ofUpstreams ? badRequest('only available on top-level groups.') : forbidden()
      }
      await assertMay(ctx, group, change)
      return { group }
    },
  }
}

const numberOf = (text: string | undefined) => (/^\d{1,15}$/.test(text ?? '') ? Number(text) : 0)

export function onVirtualRegistry(
  change: Change,
): Access<{ registry: RegistryRow }, 'registry_id'> {
  return {
    ...common,
    needs: needs(change),
    async find({ ctx, path }) {
      const registry = await findRegistry(ctx.db, numberOf(path.registry_id))
      if (!registry) throw notFound('Registry')
      await admit(ctx, registry.group_id, change, 'Registry')
      return { registry }
    },
  }
}

export function onUpstream(change: Change): Access<{ upstream: UpstreamRow }, 'upstream_id'> {
  return {
    ...common,
    needs: needs(change),
    async find({ ctx, path }) {
      const upstream = await findUpstream(ctx.db, numberOf(path.upstream_id))
      if (!upstream) throw notFound('Upstream')
      await admit(ctx, upstream.group_id, change, 'Upstream')
      return { upstream }
    },
  }
}

export interface Link {
  readonly id: number
  readonly registry_id: number
  readonly upstream_id: number
  readonly position: number
}

/** The place of an upstream in a registry. */
export function onRegistryUpstream(): Access<{ link: Link }, 'registry_upstream_id'> {
  return {
    ...common,
    needs: needs('write'),
    async find({ ctx, path }) {
      const link = await findLink(ctx.db, numberOf(path.registry_upstream_id))
      const registry = link && (await findRegistry(ctx.db, link.registry_id))
      if (!link || !registry) throw notFound('Registry upstream')
      await admit(ctx, registry.group_id, 'write', 'Registry upstream')
      return { link }
    },
  }
}

/** What was fetched; its id is the upstream and the path, in base64 for addresses. */
export function onCacheEntry(): Access<{ entry: EntryRow }, 'entry_id'> {
  return {
    ...common,
    needs: needs('write'),
    async find({ ctx, path }) {
      const text = Buffer.from(path.entry_id ?? '', 'base64url').toString('utf8')
      const [, id, relative = ''] = /^(\d{1,15}) \/?(.+)$/.exec(text) ?? []
      const upstream = id === undefined ? undefined : await findUpstream(ctx.db, Number(id))
      if (!upstream) throw notFound('Cache entry')
      await admit(ctx, upstream.group_id, 'write', 'Cache entry')
      const entry = await findEntry(ctx.db, upstream.id, relative)
      if (!entry) throw notFound('Cache entry')
      return { entry }
    },
  }
}

/** The policy of a top-level group is its Owners'. */
export function onVirtualPolicy(): Access<{ group: Group }> {
  const admitted = onVirtualGroup('read')
  return {
    ...admitted,
    needs: 'admin_virtual_registry_policy',
    async find(request) {
      const { group } = await admitted.find(request)
      if (!isAdmin(request.ctx.actor) && group.role < Role.owner) throw forbidden()
      return { group }
    },
  }
}

/** The registry that Maven reads from. Whoever may not read it is asked to sign in. */
export function onMavenRegistry(): Access<{ registry: RegistryRow }, 'registry_id'> {
  return {
    ...common,
    needs: 'read_virtual_registry',
    async find({ ctx, path }) {
      const registry = await findRegistry(ctx.db, numberOf(path.registry_id))
      if (!registry) throw notFound('Registry')
      if (await isTokenOfProjectIn(ctx, registry.group_id)) return { registry }
      try {
        const group = await findVisibleGroup(ctx, String(registry.group_id))
        if (!group) throw unauthorized()
        await assertMay(ctx, group, 'read')
      } catch {
        throw unauthorized()
      }
      return { registry }
    },
  }
}

/** A deploy token of a project reads what the members of its project read; groups have none for it (docs/contract/A). */
async function isTokenOfProjectIn({ db, actor }: Ctx, groupId: number): Promise<boolean> {
  if (actor.kind !== 'deploy_token' || actor.projectId === null) return false
  return await isInGroup(db, { projectId: actor.projectId, groupId })
}

/** The registry and the upstream that a request names in its body, for those who may change both. */
export async function admitLink(
  ctx: Ctx,
  body: { readonly registry_id: number; readonly upstream_id: number },
): Promise<{ readonly registry: RegistryRow; readonly upstream: UpstreamRow }> {
  const registry = await findRegistry(ctx.db, body.registry_id)
  if (!registry) throw notFound('Registry')
  await admit(ctx, registry.group_id, 'write', 'Registry')
  const upstream = await findUpstream(ctx.db, body.upstream_id)
  if (upstream?.group_id !== registry.group_id) throw notFound('Upstream')
  return { registry, upstream }
}

/** Linking is for those who may change the registry that the body names. */
export const mayLink = condition<{
  readonly ctx: Ctx
  readonly body: { readonly registry_id: number; readonly upstream_id: number }
}>('changes the registry: admin_virtual_registry', async ({ ctx, body }) => {
  await admitLink(ctx, body)
  return true as const
})
