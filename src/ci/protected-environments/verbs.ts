import { z } from 'zod'
import { audit, sourceEntity } from '../../access/audit.ts'
import { Role } from '../../access/roles.ts'
import type { Source } from '../../access/sources.ts'
import { conflict, existing, unprocessable } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { admitTargets } from '../../repositories/protections/admit-targets.ts'
import { inTransaction } from '../../store/transaction.ts'
import { uniquely } from '../../store/unique.ts'
import {
  approvalRuleEntity,
  assertRulesName,
  deployLevelEntity,
  type EnvironmentLevelInput,
  type EnvironmentLevelRow,
  type Kind,
  planEnvironmentLevels,
  presentApprovalRule,
  presentDeployLevel,
} from './levels.ts'
import {
  changeEnvironmentLevels,
  deleteEnvironment,
  type EnvironmentRow,
  findEnvironmentRow,
  insertEnvironment,
  listEnvironmentLevels,
  updateEnvironment,
} from './queries.ts'

export const protectedEnvironmentEntity = z.strictObject({
  name: z.string(),
  deploy_access_levels: z.array(deployLevelEntity),
  required_approval_count: z.int(),
  approval_rules: z.array(approvalRuleEntity),
})

/** What a group protects is a tier, not a single environment. */
const TIERS = ['production', 'staging', 'testing', 'development', 'other']

const words: Readonly<Record<Kind, string>> = {
  deploy: 'Deploy access levels',
  approval: 'Approval rules',
}

export async function presentEnvironments(ctx: Ctx, rows: readonly EnvironmentRow[]) {
  const levels = await listEnvironmentLevels(
    ctx.db,
    rows.map((row) => row.id),
  )
  return rows.map((row) => {
    const ofKind = (kind: Kind) =>
      levels.filter((level) => level.protected_environment_id === row.id && level.kind === kind)
    return {
      name: row.name,
      deploy_access_levels: ofKind('deploy').map(presentDeployLevel),
      required_approval_count: row.required_approval_count,
      approval_rules: ofKind('approval').map(presentApprovalRule),
    }
  })
}

export async function getEnvironment(
  ctx: Ctx,
  owner: Source,
  name: string,
): Promise<EnvironmentRow> {
  return existing(await findEnvironmentRow(ctx.db, owner, name))
}

export async function presentOne(ctx: Ctx, row: EnvironmentRow) {
  const [presented] = await presentEnvironments(ctx, [row])
  return existing(presented)
}

export interface EnvironmentInput {
  readonly required_approval_count?: number | undefined
  readonly deploy_access_levels?: readonly EnvironmentLevelInput[] | undefined
  readonly approval_rules?: readonly EnvironmentLevelInput[] | undefined
}

/** Protects an environment, or for a group a tier (docs/contract/B-resolved §9.3). */
export async function protectEnvironment(
  ctx: Ctx,
  owner: Source,
  given: EnvironmentInput & { readonly name: string },
) {
  const { name } = given
  if (owner.type === 'group' && !TIERS.includes(name)) {
    throw unprocessable([`Name must be one of environment tiers: ${TIERS.join(', ')}.`])
  }
  const taken = () =>
    conflict(
      owner.type === 'group'
        ? `Protected environment '${name}' already exists`
        : `Environment '${name}' is already protected`,
    )
  return await inTransaction(ctx, async (ctx) => {
    const table = 'protected_environments'
    const fresh = { name, required_approval_count: given.required_approval_count ?? 0 }
    const id = await uniquely({ [`${table}.${owner.type}_id, ${table}.name`]: taken }, () =>
      insertEnvironment(ctx.db, owner, fresh, ctx.now()),
    )
    await setLevels(ctx, owner, id, given, [])
    await note(ctx, owner, 'environment_protected', name)
    return await presentOne(ctx, await getEnvironment(ctx, owner, name))
  })
}

export async function changeEnvironment(
  ctx: Ctx,
  owner: Source,
  row: EnvironmentRow,
  given: EnvironmentInput,
) {
  return await inTransaction(ctx, async (ctx) => {
    await updateEnvironment(ctx.db, row.id, given.required_approval_count, ctx.now())
    await setLevels(ctx, owner, row.id, given, await listEnvironmentLevels(ctx.db, [row.id]))
    await note(ctx, owner, 'environment_protection_changed', row.name)
    return await presentOne(ctx, await getEnvironment(ctx, owner, row.name))
  })
}

export async function unprotectEnvironment(ctx: Ctx, owner: Source, row: EnvironmentRow) {
  await inTransaction(ctx, async (ctx) => {
    await deleteEnvironment(ctx.db, row.id)
    await note(ctx, owner, 'environment_unprotected', row.name)
  })
}

async function setLevels(
  ctx: Ctx,
  owner: Source,
  id: number,
  given: EnvironmentInput,
  known: readonly EnvironmentLevelRow[],
): Promise<void> {
  assertRulesName(given.approval_rules ?? [])
  const lists = { deploy: given.deploy_access_levels, approval: given.approval_rules }
  for (const kind of ['deploy', 'approval'] as const) {
    const ofKind = known.filter((level) => level.kind === kind)
    const changes = planEnvironmentLevels(ofKind, lists[kind] ?? [], words[kind])
    const options = owner.type === 'group' ? { userRole: Role.maintainer } : {}
    await admitTargets(ctx, owner, changes, words[kind], options)
    await changeEnvironmentLevels(ctx.db, id, kind, changes)
  }
}

async function note(ctx: Ctx, owner: Source, action: string, name: string): Promise<void> {
  await audit(ctx, { entity: sourceEntity(owner), action, details: { name } })
}
