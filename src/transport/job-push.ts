import type { Actor } from '../access/actor.ts'
import type { Project } from '../access/subjects.ts'
import { projectSetting } from '../projects/projects/settings.ts'

/** Whether the caller is no job, or one that may push: to its own project alone, where that allows it (docs/contract/D §2.5). */
export function mayPushAsJob(actor: Actor, project: Project): boolean {
  if (actor.kind !== 'job') return true
  return (
    actor.projectId === project.id &&
    projectSetting(project, 'ci_push_repository_for_job_token_allowed')
  )
}
