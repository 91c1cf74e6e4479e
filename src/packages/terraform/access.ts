import { type Access, findVisibleGroup } from '../../access/subjects.ts'
import { forbidden, notFound } from '../../base/problem.ts'
import { challenging, clientRead } from '../registry/access.ts'
import { moduleName, newestFirst } from './names.ts'
import { findRootNamespace, listModuleVersions, type ModuleVersion } from './queries.ts'

/** A module of the registry, with the versions that the caller may read, the highest first. */
export interface TerraformModule {
  readonly namespace: string
  readonly name: string
  readonly system: string
  readonly versions: readonly ModuleVersion[]
}

/** Reads by Terraform; its downloads carry a token of ours in the address, since it sends no header there. */
export const terraformRead = {
  ...clientRead,
  client: { ...clientRead.client, issued: { purpose: 'terraform_module', query: 'token' } },
} as const

/**
 * The module that the path names, below a top-level namespace. Of a group that the caller does not see everything is
 * refused; anonymous callers are asked to sign in (docs/contract/C-resolved §3.11).
 */
export function onTerraformModule(): Access<{ module: TerraformModule }> {
  return challenging({
    kind: 'custom',
    needs: 'read_packages',
    subjectFirst: true,
    before: () => {},
    async find({ ctx, path }) {
      const { module_namespace: namespace = '', module_name: name = '' } = path
      const { module_system: system = '' } = path
      const root = await findRootNamespace(ctx.db, namespace)
      if (!root) throw notFound('Namespace')
      const rows = await listModuleVersions(ctx, root.id, moduleName(name, system))
      const isHidden = root.kind === 'group' && !(await findVisibleGroup(ctx, String(root.id)))
      if (isHidden && rows.length === 0) throw forbidden()
      return { module: { namespace, name, system, versions: newestFirst(rows) } }
    },
  })
}
