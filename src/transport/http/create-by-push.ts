import { LRUCache } from 'lru-cache'
import { type Project, withProjectRole } from '../../access/subjects.ts'
import { Problem } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { createProject } from '../../projects/projects/create/create-project.ts'
import type { Asked } from './admission.ts'

// Whoever pushes to a new path does so at once; the notice is not worth more memory.
const mostNotices = 1000

/** Makes private projects for pushes to paths that hold none yet (docs/contract/D §3.2). */
export class ProjectsByPush {
  readonly #unannounced = new LRUCache<number, true>({ max: mostNotices })

  /** The new project, or undefined where the caller may make none, or not of this name. */
  async create(ctx: Ctx, fullPath: string): Promise<Project | undefined> {
    const slash = fullPath.lastIndexOf('/')
    const namespace = fullPath.slice(0, slash)
    // A number would be read as an id.
    if (/^\d+$/.test(namespace)) return undefined
    try {
      const path = fullPath.slice(slash + 1)
      const row = await createProject(ctx, { path, namespace, visibility: 'private' })
      this.#unannounced.set(row.id, true)
      return await withProjectRole(ctx, row)
    } catch (error) {
      if (error instanceof Problem) return undefined
      throw error
    }
  }

  /** Lines for the user of the first push, once. */
  takeNotice(ctx: Ctx, project: Project, urlOf: Asked['urlOf']): string | undefined {
    if (!this.#unannounced.delete(project.id)) return undefined
    const url = `${ctx.config.externalUrl}/${project.full_path}`
    return [
      `The private project ${project.full_path} was successfully created.`,
      '',
      'To configure the remote, run:',
      `  git remote add origin ${urlOf(`${project.full_path}.git`)}`,
      '',
      'To view the project, visit:',
      `  ${url}`,
    ].join('\n')
  }
}
