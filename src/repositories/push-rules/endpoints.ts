import { z } from 'zod'
import { audit } from '../../access/audit.ts'
import { onProject, type Project } from '../../access/subjects.ts'
import { recordOf } from '../../base/group-by.ts'
import { assertPatterns } from '../../base/patterns/check.ts'
import { existing, unprocessable } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { endpoint } from '../../http/endpoint.ts'
import { flag, integer, text } from '../../http/params.ts'
import { inTransaction } from '../../store/transaction.ts'
import { uniquely } from '../../store/unique.ts'
import { flagsOf } from './matching.ts'
import {
  deletePushRule,
  findPushRule,
  insertPushRule,
  type PushRuleRow,
  updatePushRule,
} from './queries.ts'

const path = '/projects/:id/push_rule'

const regexes = [
  'author_email_regex',
  'branch_name_regex',
  'commit_message_regex',
  'commit_message_negative_regex',
  'file_name_regex',
] as const
const checks = [
  'commit_committer_check',
  'commit_committer_name_check',
  'deny_delete_tag',
  'member_check',
  'prevent_secrets',
  'reject_unsigned_commits',
  'reject_non_dco_commits',
] as const

const body = {
  ...recordOf(regexes, () => text({ max: 511 }).nullish()),
  ...recordOf(checks, () => flag().optional()),
  max_file_size: integer({ min: 0, max: 1_000_000 }).optional(),
}
type Body = z.infer<z.ZodObject<typeof body>>

const pushRuleEntity = z.strictObject({
  id: z.int(),
  project_id: z.int(),
  created_at: z.string(),
  ...recordOf(regexes, () => z.string()),
  ...recordOf(checks, () => z.boolean()),
  max_file_size: z.int(),
})

function present(row: PushRuleRow): z.input<typeof pushRuleEntity> {
  return {
    id: row.id,
    project_id: row.project_id,
    created_at: row.created_at,
    ...recordOf(regexes, (name) => row[name] ?? ''),
    ...recordOf(checks, (name) => row[name] === 1),
    max_file_size: row.max_file_size,
  }
}

function assertRegexes(given: Body): void {
  assertPatterns(
    recordOf(regexes, (name) => {
      const source = given[name]
      return source ? { source, flags: flagsOf(name) } : undefined
    }),
  )
}

function values(given: Body) {
  const entries = Object.entries(given).filter(([, value]) => value !== undefined)
  return Object.fromEntries(entries.map(([name, value]) => [name, value === '' ? null : value]))
}

async function getRule(ctx: Ctx, project: Project): Promise<PushRuleRow> {
  return existing(await findPushRule(ctx.db, project.id), 'Push Rule')
}

async function note(ctx: Ctx, project: Project, action: string): Promise<void> {
  await audit(ctx, { entity: { type: 'Project', id: project.id }, action })
}

export const getProjectPushRule = endpoint({
  method: 'GET',
  path,
  summary: 'Get the rules for what is pushed to a project',
  access: onProject('read_protections'),
  response: pushRuleEntity.nullable(),
  async handler({ ctx, project }) {
    const row = await findPushRule(ctx.db, project.id)
    return row ? present(row) : null
  },
})

export const createProjectPushRule = endpoint({
  method: 'POST',
  path,
  summary: 'Set rules for what is pushed to a project',
  access: onProject('admin_protections'),
  body,
  response: pushRuleEntity,
  async handler({ ctx, project, body }) {
    assertRegexes(body)
    return await inTransaction(ctx, async (ctx) => {
      const exists = () => unprocessable('Project push rule exists')
      const times = { created_at: ctx.now(), updated_at: ctx.now() }
      const row = await uniquely({ 'push_rules.project_id': exists }, () =>
        insertPushRule(ctx.db, { project_id: project.id, ...values(body), ...times }),
      )
      await note(ctx, project, 'push_rule_created')
      return present(row)
    })
  },
})

export const updateProjectPushRule = endpoint({
  method: 'PUT',
  path,
  summary: 'Change the rules for what is pushed to a project',
  access: onProject('admin_protections'),
  body,
  response: pushRuleEntity,
  async handler({ ctx, project, body }) {
    assertRegexes(body)
    await getRule(ctx, project)
    return await inTransaction(ctx, async (ctx) => {
      const changes = { ...values(body), updated_at: ctx.now() }
      const row = await updatePushRule(ctx.db, project.id, changes)
      await note(ctx, project, 'push_rule_changed')
      return present(row)
    })
  },
})

export const deleteProjectPushRule = endpoint({
  method: 'DELETE',
  path,
  summary: 'Drop the rules for what is pushed to a project',
  access: onProject('admin_protections'),
  async handler({ ctx, project }) {
    await getRule(ctx, project)
    await inTransaction(ctx, async (ctx) => {
      await deletePushRule(ctx.db, project.id)
      await note(ctx, project, 'push_rule_deleted')
    })
  },
})
