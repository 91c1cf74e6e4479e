import type { Access } from '../../access/subjects.ts'
import { forbidden } from '../../base/problem.ts'
import { challenging } from '../registry/access.ts'
import { type MavenPath, readMavenPath } from './path.ts'
import { findReadableProject } from './queries.ts'

/**
 * The project whose full path is the name of the package: the one address that needs no project in it. What the caller
 * may not read is refused as what is not there.
 */
export function onMavenInstance(): Access<{ projectId: number; path: MavenPath }> {
  return challenging({
    kind: 'custom',
    needs: 'read_packages',
    subjectFirst: true,
    before: () => {},
    async find(request) {
      const path = readMavenPath(request.path.path ?? '')
      const projectId = await findReadableProject(request.ctx, path.name)
      if (projectId === undefined) throw forbidden()
      return { projectId, path }
    },
  })
}
