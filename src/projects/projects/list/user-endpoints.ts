import { anyone } from '../../../access/subjects.ts'
import { endpoint } from '../../../http/endpoint.ts'
import { text } from '../../../http/params.ts'
import { getUserWithProfile } from '../../../identity/users/profile/visible-profile.ts'
import { projectListEntity } from '../entity.ts'
import { listProjects } from './list-projects.ts'
import { projectListParams, projectPages } from './params.ts'

/** A list of the projects that a user has to do with in one way. */
function projectsOf(kind: 'user' | 'starred' | 'contributed', name: string, summary: string) {
  return endpoint({
    method: 'GET',
    path: `/users/:user_id/${name}`,
    summary,
    tags: ['projects'],
    access: anyone(),
    params: { user_id: text() },
    query: projectListParams,
    paginate: projectPages,
    response: projectListEntity,
    async handler({ ctx, params, query, page }) {
      const user = await getUserWithProfile(ctx, params.user_id)
      return await listProjects(ctx, { kind, userId: user.id }, query, page)
    },
  })
}

export const getUserProjects = projectsOf(
  'user',
  'projects',
  'List the projects in the namespace of a user',
)

export const userProjects = [
  projectsOf('starred', 'starred_projects', 'List the projects that a user starred'),
  projectsOf('contributed', 'contributed_projects', 'List the projects that a user contributed to'),
]
