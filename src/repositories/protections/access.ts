import { type Condition, condition } from '../../access/conditions.ts'
import { mayInProject } from '../../access/decide.ts'
import { eitherRecord, projectRecord } from '../../access/records.ts'
import { projectSource, type Source } from '../../access/sources.ts'
import type { Access, Project } from '../../access/subjects.ts'
import { existing, forbidden, notFound } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { text } from '../../http/params.ts'
import { getMover } from '../refs/access.ts'
import { lets } from '../refs/protection.ts'
import { onWritableCode, type RepositorySubject } from '../repository/access.ts'
import { type BranchRuleRow, findRuleRow, listLevelRows } from './branch-queries.ts'
import { getOwnRule } from './branch-verbs.ts'
import { findTagRuleRow } from './tag-queries.ts'

const params = { name: text({ max: 255 }) }

/** Developers see what is protected in a project; of a group those who set it. */
export const readBranchRules = {
  projects: 'read_protected_branches',
  groups: 'read_protections',
} as const

/** The rule for branches of exactly this name: at a project, those that its groups lay on it too. */
export const onBranchRule = eitherRecord(readBranchRules, {
  params,
  async find({ ctx, source, params: { name } }) {
    const rule = await findRuleRow(ctx.db, source, name)
    if (!rule) throw notFound(source.type === 'group' ? 'ProtectedBranch' : undefined)
    return { rule }
  },
})

/** The rule for branches of exactly this name that belongs to this very project or group. */
export const onOwnBranchRule = eitherRecord(readBranchRules, {
  params,
  find: async ({ ctx, source, params: { name } }) => ({
    rule: await getOwnRule(ctx, source, name),
  }),
  updatedAt: ({ rule }) => rule.updated_at,
})

/** The rule for tags of exactly this name. */
export const onTagRule = projectRecord('read_protections', {
  params,
  async find({ ctx, project, params: { name } }) {
    const rule = existing(await findTagRuleRow(ctx.db, project.id, name))
    return { rule }
  },
  updatedAt: ({ rule }) => rule.updated_at,
})

interface OwnRule {
  readonly ctx: Ctx
  readonly source: Source
  readonly rule: BranchRuleRow
}

/** Whoever is in the list for unprotecting, or without one every maintainer (docs/contract/B-resolved §9.1). */
export const mayUnprotect: Condition<OwnRule> = condition(
  'of a project: is listed for unprotecting, or admin_protections where nobody is',
  async ({ ctx, source, rule }) =>
    source.type === 'group' || (await isUnprotector(ctx, source, rule)) || forbidden(),
)

const branch = { branch: text() }
const writable = onWritableCode('admin_protections', { hidden: true })

interface ProtectedCode extends RepositorySubject {
  readonly rule: BranchRuleRow | undefined
}

/** The code of a project, with its own rule for exactly the branch of `:branch` where it has one. */
export const onProtectedCode: Access<ProtectedCode> = {
  ...writable,
  async find(request) {
    const found = await writable.find(request)
    const source = projectSource(found.project)
    const rule = await findRuleRow(request.ctx.db, source, request.read(branch).branch)
    return { ...found, rule: rule?.project_id === found.project.id ? rule : undefined }
  },
}

/** As `mayUnprotect`, where there need be no rule. */
export const mayReplaceRule: Condition<ProtectedCode & { readonly ctx: Ctx }> = condition(
  'is listed for unprotecting, if anybody is',
  async ({ ctx, project, rule }) =>
    !rule || (await isUnprotector(ctx, project, rule)) || forbidden(),
)

async function isUnprotector(ctx: Ctx, project: Project, row: BranchRuleRow): Promise<boolean> {
  if (mayInProject(ctx.actor, project, 'admin_only')) return true
  const levels = (await listLevelRows(ctx.db, [row.id])).filter(
    (level) => level.action === 'unprotect',
  )
  if (levels.length === 0) return mayInProject(ctx.actor, project, 'admin_protections')
  const none = { allowForcePush: false, codeOwners: false, push: [], merge: [] }
  const rule = { name: row.name, ...none, unprotect: levels }
  return lets(levels, await getMover(ctx, project, [rule], []))
}
