import { mayInProject } from '../../access/decide.ts'
import {
  type Access,
  assertMayInProject,
  findVisibleProject,
  onGroup,
  onProject,
  type Project,
  type SubjectRequest,
} from '../../access/subjects.ts'
import { notFound } from '../../base/problem.ts'
import { challenging } from '../registry/access.ts'
import type { NpmPlace } from './metadata.ts'
import { isNpmName, npmName, scopeOf } from './names.ts'
import { listProjectsWith } from './queries.ts'

type Ability = 'read_packages' | 'write_package' | 'delete_package'

/** Where clients point: at a project, at a group, or at the whole server, which knows names by their scope alone. */
export type Level = 'project' | 'group' | 'instance'

function nameOf(request: SubjectRequest): string {
  const name = npmName(request.path)
  if (!isNpmName(name)) throw notFound('Package')
  return name
}

/** The package that the path names in one project; it need not be there. */
export function onNpmPackage(ability: Ability): Access<{ project: Project; place: NpmPlace }> {
  const admitted = onProject(ability)
  return challenging({
    ...admitted,
    async find(request) {
      const name = nameOf(request)
      const { project } = await admitted.find(request)
      const within = { projectId: project.id }
      const place = { name, projectIds: [project.id], within, namespaceId: project.namespace_id }
      return { project, place }
    },
  })
}

/** Publishing is a Developer's, deprecating a Maintainer's; npm sends both to the same address. */
export function onNpmPublish(): Access<{ project: Project; place: NpmPlace }> {
  const publishing = onNpmPackage('write_package')
  const deprecating = onNpmPackage('delete_package')
  return {
    ...publishing,
    find: (request) =>
      request.headers['npm-command'] === 'deprecate'
        ? deprecating.find(request)
        : publishing.find(request),
  }
}

/** The package that the path names, wherever below the level the caller may read it. */
export function onNpmPlace(level: Level): Access<{ place: NpmPlace }> {
  const searched = onNpmSearch(level)
  return challenging({
    ...searched,
    async find(request) {
      const { place } = await searched.find(request)
      if (place.projectIds.length === 0) throw notFound('Package')
      return { place }
    },
  })
}

/** As `onNpmPlace`, also when no project has the package. */
export function onNpmSearch(level: Level): Access<{ place: NpmPlace }> {
  if (level === 'project') return onNpmPackage('read_packages')
  if (level === 'instance') return onInstancePackage()
  const admitted = onGroup('read_packages')
  return challenging({
    ...admitted,
    async find(request) {
      const name = nameOf(request)
      const { group } = await admitted.find(request)
      const place = await placeWithin(request, name, { groupId: group.id })
      return { place: { ...place, namespaceId: group.id } }
    },
  })
}

function onInstancePackage(): Access<{ place: NpmPlace }> {
  return challenging({
    kind: 'custom',
    needs: 'read_packages',
    subjectFirst: true,
    before: () => {},
    async find(request) {
      const name = nameOf(request)
      const scope = scopeOf(name)
      if (scope === undefined) return { place: { name, projectIds: [] } }
      return { place: await placeWithin(request, name, { rootPath: scope }) }
    },
  })
}

async function placeWithin(
  request: SubjectRequest,
  name: string,
  within: Parameters<typeof listProjectsWith>[2],
): Promise<NpmPlace> {
  const projectIds = await listProjectsWith(request.ctx, name, within)
  return { name, projectIds, within }
}

/** As `onNpmPlace`, with the projects that have the package and where the caller may do this; the newest upload first. */
export function onNpmTag(
  level: Level,
  ability: Ability,
): Access<{ projects: readonly Project[]; place: NpmPlace }> {
  if (level === 'project') {
    const own = onNpmPackage(ability)
    return {
      ...own,
      async find(request) {
        const { project, place } = await own.find(request)
        return { projects: [project], place }
      },
    }
  }
  const readable = onNpmPlace(level)
  return challenging({
    ...readable,
    needs: ability,
    async find(request) {
      const { place } = await readable.find(request)
      return { projects: await projectsFor(request, place, ability), place }
    },
  })
}

async function projectsFor(
  { ctx }: SubjectRequest,
  { projectIds }: NpmPlace,
  ability: Ability,
): Promise<readonly Project[]> {
  const seen: Project[] = []
  for (const id of projectIds) {
    const project = await findVisibleProject(ctx, String(id))
    if (project) seen.push(project)
  }
  const [first] = seen
  if (!first) throw notFound('Package')
  const allowed = seen.filter((project) => mayInProject(ctx.actor, project, ability))
  if (allowed.length === 0) assertMayInProject(ctx, first, ability)
  return allowed
}
