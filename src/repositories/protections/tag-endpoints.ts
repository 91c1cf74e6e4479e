import { z } from 'zod'
import { audit } from '../../access/audit.ts'
import { Role } from '../../access/roles.ts'
import { projectSource } from '../../access/sources.ts'
import { onProject, type Project } from '../../access/subjects.ts'
import { existing, unprocessable } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { endpoint } from '../../http/endpoint.ts'
import { filledText, list, oneOfNumbers } from '../../http/params.ts'
import { inTransaction } from '../../store/transaction.ts'
import { uniquely } from '../../store/unique.ts'
import { onTagRule } from './access.ts'
import { admitTargets } from './admit-targets.ts'
import { ANY_LEVEL, keyLevelEntity, levelInput, planLevels, presentKeyLevel } from './levels.ts'
import {
  deleteTagRule,
  findTagRuleRow,
  insertTagRule,
  listTagLevelRows,
  listTagRuleRows,
  type TagRuleRow,
} from './tag-queries.ts'

const words = 'Create access levels'

export const protectedTagEntity = z.strictObject({
  name: z.string(),
  create_access_levels: z.array(keyLevelEntity),
})

async function present(ctx: Ctx, rows: readonly TagRuleRow[]) {
  const levels = await listTagLevelRows(
    ctx.db,
    rows.map((row) => row.id),
  )
  return rows.map((row) => ({
    name: row.name,
    create_access_levels: levels
      .filter((level) => level.protected_tag_id === row.id)
      .map(presentKeyLevel),
  }))
}

async function presentOne(ctx: Ctx, row: TagRuleRow | undefined) {
  const [rule] = row ? await present(ctx, [row]) : []
  return existing(rule)
}

export const listProtectedTags = endpoint({
  method: 'GET',
  path: '/projects/:id/protected_tags',
  summary: 'List the protected tags of a project',
  access: onProject('read_protections'),
  paginate: 'offset',
  response: z.array(protectedTagEntity),
  async handler({ ctx, project, page }) {
    const rows = await listTagRuleRows(ctx.db, project.id, page)
    return { ...rows, items: await present(ctx, rows.items) }
  },
})

export const getProtectedTag = endpoint({
  method: 'GET',
  path: '/projects/:id/protected_tags/:name',
  summary: 'Get a protected tag, or a pattern of them',
  access: onTagRule(),
  response: protectedTagEntity,
  handler: ({ ctx, rule }) => presentOne(ctx, rule),
})

export const protectTag = endpoint({
  method: 'POST',
  path: '/projects/:id/protected_tags',
  summary: 'Protect a tag, or all that fit a pattern',
  access: onProject('admin_protections'),
  body: {
    name: filledText({ max: 255 }),
    create_access_level: oneOfNumbers(ANY_LEVEL).optional(),
    allowed_to_create: list(levelInput(ANY_LEVEL), { max: 500 }).optional(),
  },
  response: protectedTagEntity,
  async handler({ ctx, project, body }) {
    const given = (body.allowed_to_create ?? []).map((given) => ({ ...given, id: undefined }))
    const role = body.create_access_level ?? (given.length > 0 ? undefined : Role.maintainer)
    const levels = role === undefined ? given : [{ access_level: role }, ...given]
    const changes = planLevels([], levels, words)
    return await inTransaction(ctx, async (ctx) => {
      await admitTargets(ctx, projectSource(project), changes, words, { keys: true })
      const rule = { projectId: project.id, name: body.name, levels: changes.add }
      const taken = () => unprocessable(['Name has already been taken'])
      await uniquely({ 'protected_tags.project_id, protected_tags.name': taken }, () =>
        insertTagRule(ctx.db, rule, ctx.now()),
      )
      await note(ctx, project, 'tag_protected', body.name)
      return await presentOne(ctx, await findTagRuleRow(ctx.db, project.id, body.name))
    })
  },
})

export const unprotectTag = endpoint({
  method: 'DELETE',
  path: '/projects/:id/protected_tags/:name',
  summary: 'Stop protecting a tag',
  access: onTagRule('admin_protections'),
  handler: ({ ctx, project, rule }) =>
    inTransaction(ctx, async (ctx) => {
      await deleteTagRule(ctx.db, rule.id)
      await note(ctx, project, 'tag_unprotected', rule.name)
    }),
})

async function note(ctx: Ctx, project: Project, action: string, name: string): Promise<void> {
  await audit(ctx, { entity: { type: 'Project', id: project.id }, action, details: { name } })
}
