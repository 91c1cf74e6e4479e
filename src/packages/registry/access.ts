import {
  type Access,
  assertMayInProject,
  onGroup,
  onProject,
  type Project,
} from '../../access/subjects.ts'
import { Problem, unauthorized } from '../../base/problem.ts'

const realm = 'Packages Registry'

/** What endpoints that package clients read from have in common. */
export const clientRead = {
  jobToken: true,
  deployToken: ['read_package_registry', 'write_package_registry'],
  client: { realm },
} as const

/** What endpoints that package clients publish to have in common. */
export const clientWrite = {
  jobToken: true,
  deployToken: ['write_package_registry'],
  client: { realm },
} as const

/** The packages of a project, for clients: whoever has not signed in is asked to, and learns nothing else. */
export function onProjectPackages(ability: 'read_packages' | 'write_package' | 'delete_package') {
  return challenging(onProject(ability))
}

/** As `onProjectPackages`, for packages that are made of the code: whoever reads them must be allowed to read that. */
export function onProjectSources(): Access<{ project: Project }> {
  const admitted = onProject('read_packages')
  return challenging({
    ...admitted,
    async find(request) {
      const { project } = await admitted.find(request)
      assertMayInProject(request.ctx, project, 'read_code')
      return { project }
    },
  })
}

/** As `onProjectPackages`, of all projects of a group that the caller may read packages of. */
export function onGroupPackages() {
  return challenging(onGroup('read_packages'))
}

/** Answers anonymous callers 401 with a challenge where they would be refused: most clients sign in only after it. */
export function challenging<S>(access: Access<S>): Access<S> {
  return {
    ...access,
    async find(request) {
      try {
        return await access.find(request)
      } catch (error) {
        const isRefusal = error instanceof Problem && [403, 404].includes(error.status)
        throw isRefusal && request.ctx.actor.kind === 'anonymous' ? unauthorized() : error
      }
    },
  }
}
