import type { Access } from '../../access/subjects.ts'
import { assertMayInProject, onProject, type Project } from '../../access/subjects.ts'
import { forbidden, notFound } from '../../base/problem.ts'
import { id } from '../../http/params.ts'
import type { PackageStatus } from '../../store/schema/packages.ts'
import {
  findFileOfId,
  findPackageOfId,
  type PackageFileRow,
  type PackageRow,
} from '../registry/find.ts'
import { PACKAGE_STATUSES } from '../registry/packages.ts'

interface OfPackage {
  readonly project: Project
  readonly found: PackageRow
}

export const params = { package_id: id() }
export const fileParams = { ...params, package_file_id: id() }

/** The package of `:package_id` in the project of `:id` in one of these statuses, for those who may read packages there. */
export function onPackage(
  statuses: readonly PackageStatus[] = PACKAGE_STATUSES,
): Access<OfPackage> {
  const readable = onProject('read_packages')
  return {
    ...readable,
    async find(request) {
      const { project } = await readable.find(request)
      const found = await findPackageOfId(request.ctx, project, request.read(params).package_id)
      if (!found || !statuses.includes(found.status)) throw notFound('Package')
      return { project, found }
    },
  }
}

/** As `onPackage`, for those who may delete it; who may not gets a refusal whether or not it is there. */
export function onDeletablePackage(): Access<OfPackage> {
  const readable = onProject('read_packages')
  return {
    ...readable,
    needs: 'delete_package',
    async find(request) {
      const { project } = await readable.find(request)
      if (request.ctx.actor.kind === 'anonymous') throw forbidden()
      assertMayInProject(request.ctx, project, 'delete_package')
      const found = await findPackageOfId(request.ctx, project, request.read(params).package_id)
      if (!found) throw notFound('Package')
      return { project, found }
    },
  }
}

/** The file of `:package_file_id` in such a package. */
export function withFile(
  access: Access<OfPackage>,
): Access<OfPackage & { readonly file: PackageFileRow }> {
  return {
    ...access,
    async find(request) {
      const of = await access.find(request)
      const { package_file_id } = request.read(fileParams)
      const file = await findFileOfId(request.ctx, of.found, package_file_id)
      if (!file) throw notFound('Package file')
      return { ...of, file }
    },
  }
}
