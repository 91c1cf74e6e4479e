import { isAdmin } from '../../access/actor.ts'
import { audit } from '../../access/audit.ts'
import { Role } from '../../access/roles.ts'
import type { Project } from '../../access/subjects.ts'
import { conflict, forbidden, notFound, unprocessable } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { inTransaction } from '../../store/transaction.ts'
import { uniquely } from '../../store/unique.ts'
import { getMover } from '../refs/mover.ts'
import { lets } from '../refs/protection.ts'
import { admitTargets, type Owner } from './admit.ts'
import {
  type Action,
  type BranchRuleRow,
  changeBranchLevels,
  deleteRule,
  findRuleRow,
  insertRule,
  listLevelRows,
  updateRule,
} from './branch-queries.ts'
import { type LevelWish, planLevels } from './levels.ts'

/** The levels of one action, as a request to protect gives them: one role, a list, or both. */
interface Wishes {
  readonly level: number | undefined
  readonly list: readonly LevelWish[] | undefined
}

export interface NewRule {
  readonly name: string
  readonly allowForcePush: boolean
  readonly codeOwners: boolean
  readonly levels: Readonly<Record<Action, Wishes>>
}

export interface RuleChange {
  readonly allowForcePush: boolean | undefined
  readonly codeOwners: boolean | undefined
  readonly levels: Readonly<Record<Action, readonly LevelWish[] | undefined>>
}

const actions = ['push', 'merge', 'unprotect'] as const

const words: Readonly<Record<Action, string>> = {
  push: 'Push access levels',
  merge: 'Merge access levels',
  unprotect: 'Unprotect access levels',
}

/** The role is left out for its default only where a list is given (docs/contract/B-resolved §9.1). */
function wished(action: Action, wishes: Wishes): LevelWish[] {
  // Keys push; named elsewhere they are ignored here, which leaves the default.
  const list = (wishes.list ?? []).map((wish) => {
    const isBare = wish.user_id == null && wish.group_id == null && wish.access_level == null
    const isForPush = action === 'push' && wish.deploy_key_id != null
    return isBare && !isForPush ? { access_level: Role.maintainer } : { ...wish, id: undefined }
  })
  if (wishes.level !== undefined) return [{ access_level: wishes.level }, ...list]
  return list.length > 0 ? list : [{ access_level: Role.maintainer }]
}

/** Protects the branches of a name or pattern. 409 when that is done already. */
export async function createRule(ctx: Ctx, owner: Owner, given: NewRule): Promise<BranchRuleRow> {
  const taken = () => conflict(`Protected branch '${given.name}' already exists`)
  return await inTransaction(ctx, async (ctx) => {
    const key = owner.kind === 'project' ? 'project_id' : 'group_id'
    const id = await uniquely(
      { [`protected_branches.${key}, protected_branches.name`]: taken },
      () => insertRule(ctx.db, { owner, ...given }, ctx.now()),
    )
    for (const action of actions) {
      const wishes = wished(action, given.levels[action])
      await setLevels(ctx, owner, { id, action, known: [], wishes })
    }
    await note(ctx, owner, 'branch_protected', given.name)
    return await getOwnRule(ctx, owner, given.name)
  })
}

interface LevelSetting {
  readonly id: number
  readonly action: Action
  readonly known: Awaited<ReturnType<typeof listLevelRows>>
  readonly wishes: readonly LevelWish[]
}

async function setLevels(ctx: Ctx, owner: Owner, setting: LevelSetting): Promise<void> {
  const { id, action, known, wishes } = setting
  const changes = planLevels(known, wishes, words[action])
  await admitTargets(ctx, owner, changes, words[action], { keys: action === 'push' })
  const nobody = [...changes.add, ...changes.change.map((one) => one.target)].some(
    (target) => target.access_level === Role.none,
  )
  if (action === 'unprotect' && nobody) {
    throw unprocessable([`${words.unprotect} access level is not included in the list`])
  }
  await changeBranchLevels(ctx.db, id, action, changes)
}

/** Changes what was told of a rule; lists that were not sent stay. */
export async function changeRule(
  ctx: Ctx,
  owner: Owner,
  row: BranchRuleRow,
  change: RuleChange,
): Promise<BranchRuleRow> {
  return await inTransaction(ctx, async (ctx) => {
    const { allowForcePush, codeOwners } = change
    await updateRule(
      ctx.db,
      row.id,
      {
        ...(allowForcePush === undefined ? {} : { allow_force_push: allowForcePush }),
        ...(codeOwners === undefined ? {} : { code_owner_approval_required: codeOwners }),
      },
      ctx.now(),
    )
    const known = await listLevelRows(ctx.db, [row.id])
    for (const action of actions) {
      const wishes = change.levels[action]
      if (!wishes) continue
      const ofAction = known.filter((level) => level.action === action)
      await setLevels(ctx, owner, { id: row.id, action, known: ofAction, wishes })
    }
    await note(ctx, owner, 'branch_protection_changed', row.name)
    return await getOwnRule(ctx, owner, row.name)
  })
}

export async function removeRule(ctx: Ctx, owner: Owner, row: BranchRuleRow): Promise<void> {
  await inTransaction(ctx, async (ctx) => {
    await deleteRule(ctx.db, row.id)
    await note(ctx, owner, 'branch_unprotected', row.name)
  })
}

/** The owner's own rule of exactly this name, not one that a group lays on it; else 404. */
export async function getOwnRule(ctx: Ctx, owner: Owner, name: string): Promise<BranchRuleRow> {
  const row = await findRuleRow(ctx.db, owner, name)
  const isOwn = owner.kind === 'project' ? row?.project_id === owner.id : row !== undefined
  if (!row || !isOwn) throw notFound(owner.kind === 'group' ? 'ProtectedBranch' : undefined)
  return row
}

/** Whoever is in the list for unprotecting, or without one every maintainer (docs/contract/B-resolved §9.1). */
export async function assertMayUnprotect(
  ctx: Ctx,
  project: Project,
  row: BranchRuleRow,
): Promise<void> {
  if (isAdmin(ctx.actor)) return
  const levels = (await listLevelRows(ctx.db, [row.id])).filter(
    (level) => level.action === 'unprotect',
  )
  if (levels.length === 0) {
    if (project.role < Role.maintainer) throw forbidden()
    return
  }
  const { name } = row
  const none = { allowForcePush: false, codeOwners: false, push: [], merge: [] }
  const rule = { name, ...none, unprotect: levels }
  const mover = await getMover(ctx, project, [rule], [])
  if (!lets(levels, mover)) throw forbidden()
}

async function note(ctx: Ctx, owner: Owner, action: string, name: string): Promise<void> {
  const type = owner.kind === 'project' ? 'Project' : 'Group'
  await audit(ctx, { entity: { type, id: owner.id }, action, details: { name } })
}
