import type { z } from 'zod'
import { audit, sourceEntity } from '../../access/audit.ts'
import { Role } from '../../access/roles.ts'
import type { Source } from '../../access/sources.ts'
import { conflict, notFound, unprocessable } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { inTransaction } from '../../store/transaction.ts'
import { uniquely } from '../../store/unique.ts'
import { admitTargets } from './admit-targets.ts'
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
import { type LevelInput, planLevels } from './levels.ts'
import type { changeBranchBody, createBranchBody } from './params.ts'

type NewRule = z.infer<z.ZodObject<typeof createBranchBody>>

const actions = ['push', 'merge', 'unprotect'] as const

const words: Readonly<Record<Action, string>> = {
  push: 'Push access levels',
  merge: 'Merge access levels',
  unprotect: 'Unprotect access levels',
}

/** The role is left out for its default only where a list is given (docs/contract/B-resolved §9.1). */
function levelsFor(action: Action, given: NewRule): LevelInput[] {
  // Keys push; named elsewhere they are ignored here, which leaves the default.
  const list = (given[`allowed_to_${action}`] ?? []).map((level) => {
    const isBare = level.user_id == null && level.group_id == null && level.access_level == null
    const isForPush = action === 'push' && level.deploy_key_id != null
    return isBare && !isForPush ? { access_level: Role.maintainer } : { ...level, id: undefined }
  })
  const role = given[`${action}_access_level`]
  if (role !== undefined) return [{ access_level: role }, ...list]
  return list.length > 0 ? list : [{ access_level: Role.maintainer }]
}

/** Protects the branches of a name or pattern. 409 when that is done already. */
export async function createRule(ctx: Ctx, owner: Source, given: NewRule): Promise<BranchRuleRow> {
  const taken = () => conflict(`Protected branch '${given.name}' already exists`)
  const rule = {
    name: given.name,
    allow_force_push: given.allow_force_push ?? false,
    code_owner_approval_required: given.code_owner_approval_required ?? false,
  }
  return await inTransaction(ctx, async (ctx) => {
    const key = owner.type === 'project' ? 'project_id' : 'group_id'
    const id = await uniquely(
      { [`protected_branches.${key}, protected_branches.name`]: taken },
      () => insertRule(ctx.db, owner, rule, ctx.now()),
    )
    for (const action of actions) {
      const asked = levelsFor(action, given)
      await setLevels(ctx, owner, { id, action, known: [], asked })
    }
    await note(ctx, owner, 'branch_protected', given.name)
    return await getOwnRule(ctx, owner, given.name)
  })
}

interface LevelSetting {
  readonly id: number
  readonly action: Action
  readonly known: Awaited<ReturnType<typeof listLevelRows>>
  readonly asked: readonly LevelInput[]
}

async function setLevels(ctx: Ctx, owner: Source, setting: LevelSetting): Promise<void> {
  const { id, action, known, asked } = setting
  const changes = planLevels(known, asked, words[action])
  await admitTargets(ctx, owner, changes, words[action], { keys: action === 'push' })
  const nobody = [...changes.add, ...changes.change.map((one) => one.target)].some(
    (target) => target.access_level === Role.none,
  )
  if (action === 'unprotect' && nobody) {
    throw unprocessable([`${words.unprotect} access level is not included in the list`])
  }
  await changeBranchLevels(ctx.db, id, action, changes)
}

/** Changes what is given of a rule; lists that were not sent stay. */
export async function changeRule(
  ctx: Ctx,
  owner: Source,
  row: BranchRuleRow,
  change: z.infer<z.ZodObject<typeof changeBranchBody>>,
): Promise<BranchRuleRow> {
  return await inTransaction(ctx, async (ctx) => {
    const { allow_force_push, code_owner_approval_required } = change
    const updated_at = ctx.now()
    await updateRule(ctx.db, row.id, { allow_force_push, code_owner_approval_required, updated_at })
    const known = await listLevelRows(ctx.db, [row.id])
    for (const action of actions) {
      const asked = change[`allowed_to_${action}`]
      if (!asked) continue
      const ofAction = known.filter((level) => level.action === action)
      await setLevels(ctx, owner, { id: row.id, action, known: ofAction, asked })
    }
    await note(ctx, owner, 'branch_protection_changed', row.name)
    return await getOwnRule(ctx, owner, row.name)
  })
}

export async function removeRule(ctx: Ctx, owner: Source, row: BranchRuleRow): Promise<void> {
  await inTransaction(ctx, async (ctx) => {
    await deleteRule(ctx.db, row.id)
    await note(ctx, owner, 'branch_unprotected', row.name)
  })
}

/** The owner's own rule of exactly this name, not one that a group lays on it; else 404. */
export async function getOwnRule(ctx: Ctx, owner: Source, name: string): Promise<BranchRuleRow> {
  const row = await findRuleRow(ctx.db, owner, name)
  const isOwn = owner.type === 'project' ? row?.project_id === owner.id : row !== undefined
  if (!row || !isOwn) throw notFound(owner.type === 'group' ? 'ProtectedBranch' : undefined)
  return row
}

async function note(ctx: Ctx, owner: Source, action: string, name: string): Promise<void> {
  await audit(ctx, { entity: sourceEntity(owner), action, details: { name } })
}
