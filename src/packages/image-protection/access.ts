import { type Access, onProject, type Project } from '../../access/subjects.ts'
import { notFound } from '../../base/problem.ts'
import { findTagRule, type TagRuleRow } from './queries.ts'

/** The rule of `:protection_rule_id` in the project of `:id`, for those who may change the rules there. */
export function onTagRule(): Access<{ readonly project: Project; readonly rule: TagRuleRow }> {
  const admitted = onProject('admin_container_images', { signedIn: true })
  return {
    ...admitted,
    async find(request) {
      const { project } = await admitted.find(request)
      const id = Number(request.path.protection_rule_id)
      const isId = Number.isSafeInteger(id)
      const rule = isId ? await findTagRule(request.ctx.db, project.id, id) : undefined
      if (!rule) throw notFound('Container Protection Tag Rule')
      return { project, rule }
    },
  }
}
