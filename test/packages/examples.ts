import { done, examples, owner, type Spot } from '../contract/example.ts'

async function published(spot: Spot) {
  const project = `/projects/${spot.place.project.id}`
  await owner(spot).put(`${project}/packages/generic/tool/1.0.0/a.bin`, undefined, { raw: 'bytes' })
  const [row] = await done(owner(spot), 'GET', `${project}/packages`)
  const [file] = await done(owner(spot), 'GET', `${project}/packages/${row.id}/package_files`)
  return {
    package_id: String(row.id),
    package_file_id: String(file.id),
    package_name: 'tool',
    package_version: '1.0.0',
    file: 'a.bin',
  }
}

const rule = {
  package_name_pattern: '@team/*',
  package_type: 'npm',
  minimum_access_level_for_push: 'maintainer',
}

async function ruled(spot: Spot) {
  const path = `/projects/${spot.place.project.id}/packages/protection/rules`
  const made = await done(owner(spot), 'POST', path, rule)
  return { package_protection_rule_id: String(made.id) }
}

export const packageExamples = examples({
  'GET P/packages/generic/:package_name/:package_version/*file': { prepare: published },
  'GET P/packages/:package_id': { prepare: published },
  'DELETE P/packages/:package_id': { prepare: published },
  'GET P/packages/:package_id/pipelines': { prepare: published },
  'GET P/packages/:package_id/package_files': { prepare: published },
  'GET P/packages/:package_id/package_files/:package_file_id/download': { prepare: published },
  'DELETE P/packages/:package_id/package_files/:package_file_id': { prepare: published },
  'POST P/packages/protection/rules': { body: rule },
  'PATCH P/packages/protection/rules/:package_protection_rule_id': {
    prepare: ruled,
    body: { package_name_pattern: '@other/*' },
  },
  'DELETE P/packages/protection/rules/:package_protection_rule_id': { prepare: ruled },
})
