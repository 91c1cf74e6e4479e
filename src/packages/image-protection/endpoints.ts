import { z } from 'zod'
import { Role } from '../../access/roles.ts'
import { onProject } from '../../access/subjects.ts'
import { patternFault } from '../../base/patterns/check.ts'
import { Problem } from '../../base/problem.ts'
import { endpoint } from '../../http/endpoint.ts'
import { fault, id, oneOf, parameter } from '../../http/params.ts'
import { inTransaction } from '../../store/transaction.ts'
import { uniquely } from '../../store/unique.ts'
import { onTagRule } from './access.ts'
import {
  deleteTagRule,
  insertTagRule,
  listTagRulePage,
  listTagRules,
  type TagRuleRow,
  updateTagRule,
} from './queries.ts'

const ROOT = '/projects/:id/registry/protection/tag/rules'
const LEVELS = ['maintainer', 'owner', 'admin'] as const
const MOST_RULES = 5
const access = onProject('admin_container_images', { signedIn: true })

const pattern = parameter({ type: 'string' }, (raw) => {
  if (typeof raw !== 'string' || raw === '' || raw.length > 100) return fault.invalid
  return patternFault({ source: raw }) === undefined ? raw : fault.invalid
})

const ruleEntity = z.strictObject({
  id: z.int(),
  project_id: z.int(),
  tag_name_pattern: z.string(),
  minimum_access_level_for_push: z.enum(LEVELS),
  minimum_access_level_for_delete: z.enum(LEVELS),
})

function present(row: TagRuleRow): z.input<typeof ruleEntity> {
  const wordOf = (level: number) => LEVELS.find((word) => Role[word] === level) ?? 'admin'
  return {
    id: row.id,
    project_id: row.project_id,
    tag_name_pattern: row.tag_name_pattern,
    minimum_access_level_for_push: wordOf(row.minimum_access_level_for_push),
    minimum_access_level_for_delete: wordOf(row.minimum_access_level_for_delete),
  }
}

function refused(text: string): Problem {
  return new Problem('unprocessable', 422, { message: text })
}

const duplicate = {
  'container_tag_rules.project_id, container_tag_rules.tag_name_pattern': () =>
    refused('Tag name pattern has already been taken'),
}

export const listContainerTagRules = endpoint({
  method: 'GET',
  path: ROOT,
  summary: 'List the rules that protect tags of the images of a project',
  access,
  paginate: 'offset',
  response: z.array(ruleEntity),
  async handler({ ctx, project, page }) {
    const rows = await listTagRulePage(ctx.db, project.id, page)
    return { ...rows, items: rows.items.map(present) }
  },
})

export const createContainerTagRule = endpoint({
  method: 'POST',
  path: ROOT,
  summary: 'Protect the tags of images whose names match',
  access,
  body: {
    tag_name_pattern: pattern,
    minimum_access_level_for_push: oneOf(LEVELS),
    minimum_access_level_for_delete: oneOf(LEVELS),
  },
  response: ruleEntity,
  status: 201,
  async handler({ ctx, project, body }) {
    const values = {
      tag_name_pattern: body.tag_name_pattern,
      minimum_access_level_for_push: Role[body.minimum_access_level_for_push],
      minimum_access_level_for_delete: Role[body.minimum_access_level_for_delete],
    }
    return await inTransaction(ctx, async (inner) => {
      if ((await listTagRules(inner.db, project.id)).length >= MOST_RULES) {
        throw refused('Maximum number of protection rules have been reached.')
      }
      const insert = () => insertTagRule(inner.db, project.id, values, inner.now())
      return present(await uniquely(duplicate, insert))
    })
  },
})

export const updateContainerTagRule = endpoint({
  method: 'PATCH',
  path: `${ROOT}/:protection_rule_id`,
  summary: 'Change a rule that protects tags of images',
  access: onTagRule(),
  params: { protection_rule_id: id() },
  body: {
    tag_name_pattern: pattern.optional(),
    minimum_access_level_for_push: oneOf(LEVELS).optional(),
    minimum_access_level_for_delete: oneOf(LEVELS).optional(),
  },
  response: ruleEntity,
  async handler({ ctx, rule, body }) {
    const { minimum_access_level_for_push: push, minimum_access_level_for_delete: remove } = body
    const values = {
      ...(body.tag_name_pattern === undefined ? {} : { tag_name_pattern: body.tag_name_pattern }),
      ...(push === undefined ? {} : { minimum_access_level_for_push: Role[push] }),
      ...(remove === undefined ? {} : { minimum_access_level_for_delete: Role[remove] }),
    }
    const update = () => updateTagRule(ctx.db, rule.id, values, ctx.now())
    return present(await uniquely(duplicate, update))
  },
})

export const deleteContainerTagRule = endpoint({
  method: 'DELETE',
  path: `${ROOT}/:protection_rule_id`,
  summary: 'Remove a rule that protects tags of images',
  access: onTagRule(),
  params: { protection_rule_id: id() },
  handler: ({ ctx, rule }) => deleteTagRule(ctx.db, rule.id),
})
