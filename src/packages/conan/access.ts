import {
  type Access,
  assertMayInProject,
  findVisibleProject,
  onProject,
  type Project,
} from '../../access/subjects.ts'
import { notFound } from '../../base/problem.ts'
import { challenging, clientRead, clientWrite } from '../registry/access.ts'

/** Conan signs in once by Basic and shows a token of ours from then on. */
const issued = { purpose: 'conan' } as const

export const conanRead = { ...clientRead, client: { ...clientRead.client, issued } } as const
export const conanWrite = { ...clientWrite, client: { ...clientWrite.client, issued } } as const

/** Below a project; or below the whole server, where the user of a recipe names its project. */
export type Level = 'project' | 'instance'

type Ability = 'read_packages' | 'write_package' | 'delete_package'

export function onConanRecipe(level: Level, ability: Ability): Access<{ project: Project }> {
  return level === 'project' ? challenging(onProject(ability)) : onNamedProject(ability)
}

function onNamedProject(ability: Ability): Access<{ project: Project }> {
  return challenging({
    kind: 'custom',
    needs: ability,
    subjectFirst: true,
    before: () => {},
    async find({ ctx, path }) {
      const fullPath = (path.recipe_user ?? '').replaceAll('+', '/')
      const project = fullPath.includes('/') ? await findVisibleProject(ctx, fullPath) : undefined
      if (!project) throw notFound('Package')
      assertMayInProject(ctx, project, ability)
      return { project }
    },
  })
}
