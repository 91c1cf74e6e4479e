import { z } from 'zod'
import { methodNotAllowed } from '../../base/problem.ts'
import { endpoint } from '../../http/endpoint.ts'
import { text } from '../../http/params.ts'
import { onNpmPackage, onNpmPlace } from './access.ts'
import { npmWrite } from './client.ts'
import { NAMES, ROOTS } from './paths.ts'
import { unpublishPackage, unpublishTarball, unpublishVersions } from './unpublish.ts'

const revision = { revision: text({ max: 255 }) }
const response = z.strictObject({ success: z.boolean() })
const removed = { ...npmWrite, response, status: 200 } as const

export const unpublishNpmVersions = NAMES.map((name) =>
  endpoint({
    ...removed,
    method: 'PUT',
    path: `${ROOTS.project}/${name.path}/-rev/:revision`,
    summary: 'Unpublish versions of an npm package (changed document)',
    access: onNpmPackage('delete_package'),
    params: { ...name.params, ...revision },
    raw: true,
    async handler({ ctx, project, place, params, request }) {
      const { body } = request
      await unpublishVersions(ctx, project, place.name, { body, revision: params.revision })
      return { success: true }
    },
  }),
)

export const unpublishNpmPackage = NAMES.map((name) =>
  endpoint({
    ...removed,
    method: 'DELETE',
    path: `${ROOTS.project}/${name.path}/-rev/:revision`,
    summary: 'Remove all versions of an npm package',
    access: onNpmPackage('delete_package'),
    params: { ...name.params, ...revision },
    async handler({ ctx, project, place, params }) {
      await unpublishPackage(ctx, project, place.name, params.revision)
      return { success: true }
    },
  }),
)

export const unpublishNpmTarball = NAMES.map((name) =>
  endpoint({
    ...removed,
    method: 'DELETE',
    path: `${ROOTS.project}/${name.path}/-/*file_name/-rev/:revision`,
    summary: 'Unpublish a version of an npm package (tarball)',
    access: onNpmPackage('delete_package'),
    params: { ...name.params, file_name: text(), ...revision },
    async handler({ ctx, project, place, params }) {
      await unpublishTarball(ctx, project, place, params.file_name)
      return { success: true }
    },
  }),
)

/** npm takes 404 for "it is gone": here, where several projects may have a package, it must get an error when nothing was removed. */
export const refuseNpmUnpublish = (['group', 'instance'] as const).flatMap((level) =>
  NAMES.flatMap((name) =>
    (['PUT', 'DELETE'] as const).map((method) =>
      endpoint({
        ...npmWrite,
        method,
        path: `${ROOTS[level]}/${name.path}/-rev/:revision`,
        summary:
          'Refuse to remove versions of an npm package where it may be that of several projects',
        access: onNpmPlace(level),
        params: { ...name.params, ...revision },
        // Its body is not read.
        ...(method === 'PUT' ? { raw: true as const } : {}),
        handler() {
          throw methodNotAllowed('Packages are unpublished at the registry of their project')
        },
      }),
    ),
  ),
)
