import { isAdmin, userOf } from '../../access/actor.ts'
import { type Condition, condition, mayOr } from '../../access/conditions.ts'
import { mayInProject } from '../../access/decide.ts'
import { projectRecord } from '../../access/records.ts'
import { Role } from '../../access/roles.ts'
import type { Project } from '../../access/subjects.ts'
import { hasProjectRole } from '../../access/visible-queries.ts'
import { dayOf } from '../../base/clock.ts'
import { existing, notFound } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { id } from '../../http/params.ts'
import { taken } from '../../store/unique.ts'
import { type KeyInput, readKey } from './add-key.ts'
import {
  type DeployKeyRow,
  findKeyByFingerprint,
  findKeyById,
  findProjectKey,
  isKeyOfMaintainer,
  listKeyProjects,
  type SshKeyRow,
} from './queries.ts'

/** The projects in which a user may administer deploy keys, as a condition on `projects`. */
export function maintainedBy(ctx: Ctx, userId: number) {
  return hasProjectRole(userId, dayOf(ctx.now()), Role.maintainer)
}

/** Whether the caller may link a deploy key: a public one, or one of a project that the caller maintains. */
async function mayLink(ctx: Ctx, key: SshKeyRow): Promise<boolean> {
  if (key.deploy === 0) return false
  if (key.public === 1 || isAdmin(ctx.actor)) return true
  const user = userOf(ctx.actor)
  return user !== null && isKeyOfMaintainer(ctx.db, key.id, maintainedBy(ctx, user.id))
}

const params = { key_id: id() }

/** A deploy key of the project. */
export const onDeployKey = projectRecord('read_deploy_keys', {
  params,
  async find({ ctx, project, params }) {
    const key = existing(await findProjectKey(ctx.db, project.id, params.key_id), 'Deploy Key')
    return { key }
  },
})

/** A deploy key that may be linked to the project; one out of the caller's reach is not found. */
export const onLinkableKey = projectRecord('admin_deploy_keys', {
  params,
  async find({ ctx, params }) {
    const key = await findKeyById(ctx.db, params.key_id)
    if (!key || !(await mayLink(ctx, key))) throw notFound('Deploy Key')
    return { key }
  },
})

interface Adding {
  readonly ctx: Ctx
  readonly body: KeyInput
}

/** A key that exists is linked instead of added where the caller may link it, and is taken where not (docs/contract/D §1.22). */
export const addsLinkableKey: Condition<Adding> = condition(
  'key: new, or one that the caller may link',
  async ({ ctx, body }) => {
    const { fingerprintSha256 } = readKey(ctx, body)
    const known = await findKeyByFingerprint(ctx.db, 'fingerprint_sha256', fingerprintSha256)
    return !known || (await mayLink(ctx, known)) || taken('fingerprint_sha256')
  },
)

interface Renaming {
  readonly ctx: Ctx
  readonly project: Project
  readonly key: DeployKeyRow
  readonly body: { readonly title?: string | undefined }
}

/** The title is the same in all projects of a key. */
export const renamesKey: Condition<Renaming> = condition(
  'title: rename_deploy_key, where it changes',
  async ({ ctx, project, key, body: { title } }) => {
    if (title === undefined || title === key.title) return true
    const shared = key.public === 1 || (await listKeyProjects(ctx.db, key.id)).length > 1
    return mayOr(ctx, mayInProject(ctx.actor, project, 'rename_deploy_key', { owned: !shared }))
  },
)
