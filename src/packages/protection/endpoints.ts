import { z } from 'zod'
import { Role } from '../../access/roles.ts'
import { onProject } from '../../access/subjects.ts'
import { Problem } from '../../base/problem.ts'
import { assertUnmodifiedSince } from '../../base/unmodified-since.ts'
import { endpoint } from '../../http/endpoint.ts'
import { filledText, oneOf } from '../../http/params.ts'
import { uniquely } from '../../store/unique.ts'
import { onProtectionRule, ruleParams } from './access.ts'
import { DELETE_LEVELS, PUSH_LEVELS, presentRule, protectionRuleEntity } from './entity.ts'
import { deleteRule, insertRule, listRuleRows, updateRule } from './queries.ts'

/** The formats that know protection (docs/contract/C-resolved §5). */
const types = ['conan', 'generic', 'helm', 'maven', 'npm', 'nuget', 'pypi'] as const
const pattern = filledText({ max: 255 })
const levels = {
  minimum_access_level_for_push: oneOf(PUSH_LEVELS).nullish(),
  minimum_access_level_for_delete: oneOf(DELETE_LEVELS).nullish(),
}

function refused(error: string): Problem {
  return new Problem('unprocessable', 422, { message: { error } })
}

const duplicate = {
  'package_protection_rules.project_id, package_protection_rules.package_type, package_protection_rules.package_name_pattern':
    () => refused('Validation failed: Package name pattern has already been taken'),
}

function assertAnyLevel(push: unknown, remove: unknown): void {
  if ((push ?? null) === null && (remove ?? null) === null) {
    throw refused(
      'Validation failed: A rule must have at least a minimum access role for push or delete.',
    )
  }
}

const levelOf = (word: keyof typeof Role | null | undefined) => (word ? Role[word] : null)

export const listProtectionRules = endpoint({
  method: 'GET',
  path: '/projects/:id/packages/protection/rules',
  summary: 'List the protection rules for the packages of a project',
  access: onProject('read_package_rules', { signedIn: true }),
  paginate: 'offset',
  response: z.array(protectionRuleEntity),
  async handler({ ctx, project, page }) {
    const rows = await listRuleRows(ctx.db, project.id, page)
    return { ...rows, items: rows.items.map(presentRule) }
  },
})

export const createProtectionRule = endpoint({
  method: 'POST',
  path: '/projects/:id/packages/protection/rules',
  summary: 'Protect the packages of a project whose names match',
  access: onProject('admin_package_rules', { signedIn: true }),
  body: { package_name_pattern: pattern, package_type: oneOf(types), ...levels },
  response: protectionRuleEntity,
  status: 201,
  async handler({ ctx, project, body }) {
    const { package_name_pattern, package_type } = body
    const { minimum_access_level_for_push: push, minimum_access_level_for_delete: remove } = body
    assertAnyLevel(push, remove)
    const values = {
      package_name_pattern,
      package_type,
      minimum_access_level_for_push: levelOf(push),
      minimum_access_level_for_delete: levelOf(remove),
    }
    const row = await uniquely(duplicate, () => insertRule(ctx.db, project.id, values, ctx.now()))
    return presentRule(row)
  },
})

export const updateProtectionRule = endpoint({
  method: 'PATCH',
  path: '/projects/:id/packages/protection/rules/:package_protection_rule_id',
  summary: 'Change a protection rule for packages',
  access: onProtectionRule(),
  params: ruleParams,
  body: {
    package_name_pattern: pattern.optional(),
    package_type: oneOf(types).optional(),
    ...levels,
  },
  response: protectionRuleEntity,
  async handler({ ctx, rule, body }) {
    const { minimum_access_level_for_push: push, minimum_access_level_for_delete: remove } = body
    const values = {
      package_name_pattern: body.package_name_pattern ?? rule.package_name_pattern,
      package_type: body.package_type ?? rule.package_type,
      minimum_access_level_for_push:
        push === undefined ? rule.minimum_access_level_for_push : levelOf(push),
      minimum_access_level_for_delete:
        remove === undefined ? rule.minimum_access_level_for_delete : levelOf(remove),
    }
    assertAnyLevel(values.minimum_access_level_for_push, values.minimum_access_level_for_delete)
    return presentRule(
      await uniquely(duplicate, () => updateRule(ctx.db, rule.id, values, ctx.now())),
    )
  },
})

export const deleteProtectionRule = endpoint({
  method: 'DELETE',
  path: '/projects/:id/packages/protection/rules/:package_protection_rule_id',
  summary: 'Remove a protection rule for packages',
  access: onProtectionRule(),
  params: ruleParams,
  async handler({ ctx, rule, request }) {
    assertUnmodifiedSince(request, rule.updated_at)
    await deleteRule(ctx.db, rule.id)
  },
})
