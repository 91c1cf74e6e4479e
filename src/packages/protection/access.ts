import { type Access, onProject, type Project } from '../../access/subjects.ts'
import { notFound } from '../../base/problem.ts'
import { id } from '../../http/params.ts'
import { findRule, type RuleRow } from './queries.ts'

export const ruleParams = { package_protection_rule_id: id() }

/** The rule of `:package_protection_rule_id` in the project of `:id`, for those who may change the rules there. */
export function onProtectionRule(): Access<{ readonly project: Project; readonly rule: RuleRow }> {
  const admitted = onProject('admin_package_rules', { signedIn: true })
  return {
    ...admitted,
    async find(request) {
      const { project } = await admitted.find(request)
      const { package_protection_rule_id: id } = request.read(ruleParams)
      const rule = await findRule(request.ctx.db, project.id, id)
      if (!rule) throw notFound('Package Protection Rule')
      return { project, rule }
    },
  }
}
