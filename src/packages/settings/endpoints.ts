import { onGroup } from '../../access/subjects.ts'
import { endpoint } from '../../http/endpoint.ts'
import { flag, text } from '../../http/params.ts'
import { changePackageSettings, packageSettings, readPackageSettings } from './settings.ts'

const regex = text({ max: 255 }).optional()
const onOff = flag().optional()

export const getPackageSettings = endpoint({
  method: 'GET',
  path: '/groups/:id/packages/settings',
  summary: 'Get the package settings of a group',
  access: onGroup('admin_package_settings', { signedIn: true }),
  response: packageSettings,
  handler: ({ ctx, group }) => readPackageSettings(ctx.db, group.id),
})

export const putPackageSettings = endpoint({
  method: 'PUT',
  path: '/groups/:id/packages/settings',
  summary: 'Update the package settings of a group',
  access: onGroup('admin_package_settings', { signedIn: true }),
  body: {
    maven_duplicates_allowed: onOff,
    maven_duplicate_exception_regex: regex,
    generic_duplicates_allowed: onOff,
    generic_duplicate_exception_regex: regex,
    nuget_duplicates_allowed: onOff,
    nuget_duplicate_exception_regex: regex,
    terraform_module_duplicates_allowed: onOff,
    terraform_module_duplicate_exception_regex: regex,
    nuget_symbol_server_enabled: onOff,
    npm_package_requests_forwarding: flag().nullable().optional(),
    lock_npm_package_requests_forwarding: onOff,
    pypi_package_requests_forwarding: flag().nullable().optional(),
    lock_pypi_package_requests_forwarding: onOff,
    maven_package_requests_forwarding: flag().nullable().optional(),
    lock_maven_package_requests_forwarding: onOff,
  },
  response: packageSettings,
  handler: ({ ctx, group, body }) => changePackageSettings(ctx, group.id, body),
})
