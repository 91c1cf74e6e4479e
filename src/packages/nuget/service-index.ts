const SEARCH = [
  'SearchQueryService',
  'SearchQueryService/3.0.0-beta',
  'SearchQueryService/3.0.0-rc',
]
const REGISTRATION = [
  'RegistrationsBaseUrl',
  'RegistrationsBaseUrl/3.0.0-beta',
  'RegistrationsBaseUrl/3.0.0-rc',
]

/** Where a client finds what, below the address that it was given; it says nothing about what is there. */
export function serviceIndex(root: string, level: 'projects' | 'groups') {
  const resource = (url: string, comment: string) => (type: string) => ({
    '@id': url,
    '@type': type,
    comment,
  })
  const read = [
    ...SEARCH.map(resource(`${root}/query`, 'Filter and search for packages by keyword.')),
    ...REGISTRATION.map(resource(`${root}/metadata`, 'Get package metadata.')),
  ]
  const ofProject = [
    resource(`${root}/download`, 'Get package content (.nupkg).')('PackageBaseAddress/3.0.0'),
    resource(root, 'Push and delete (or unlist) packages.')('PackagePublish/2.0.0'),
    resource(`${root}/symbolpackage`, 'Push symbol packages.')('SymbolPackagePublish/4.9.0'),
  ]
  return { version: '3.0.0', resources: level === 'projects' ? [...read, ...ofProject] : read }
}
