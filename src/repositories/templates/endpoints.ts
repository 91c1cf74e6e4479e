import { z } from 'zod'
import { anyone } from '../../access/subjects.ts'
import { pageOf } from '../../base/page.ts'
import { existing } from '../../base/problem.ts'
import { vendorWords } from '../../base/vendor.ts'
import { type Endpoint, endpoint } from '../../http/endpoint.ts'
import { flag, text } from '../../http/params.ts'
import {
  findLicenseTemplate,
  findTemplate,
  licenseKeys,
  type PlainKind,
  templateNames,
} from './catalog.ts'
import { licenseEntity, templateBrief, templateEntity } from './entity.ts'
import { licenseFor } from './look-up.ts'

const tags = ['templates']

function routes(kind: PlainKind, folder: string, what: string): Endpoint[] {
  const list = endpoint({
    method: 'GET',
    path: `/templates/${folder}`,
    summary: `List the templates of ${what}`,
    tags,
    access: anyone(),
    paginate: 'offset',
    response: z.array(templateBrief),
    handler: ({ page }) =>
      pageOf(
        templateNames(kind).map((name) => ({ key: name, name })),
        page,
      ),
  })
  const get = endpoint({
    method: 'GET',
    path: `/templates/${folder}/:name`,
    summary: `Get a template of ${what}`,
    tags,
    access: anyone(),
    params: { name: text({ max: 255 }) },
    response: templateEntity,
    handler({ params }) {
      return existing(findTemplate(kind, params.name), 'Template')
    },
  })
  return [list, get]
}

/** CI templates stand under our own word and under the one that stock clients know (docs/contract/D §0.1). */
const ciFolders = vendorWords('svc').ciTemplates

export const plainTemplates = [
  ...routes('dockerfiles', 'dockerfiles', 'Dockerfiles'),
  ...routes('gitignores', 'gitignores', 'ignored files'),
  ...ciFolders.flatMap((folder) => routes('ci', folder, 'pipelines')),
]

export const listLicenses = endpoint({
  method: 'GET',
  path: '/templates/licenses',
  summary: 'List the templates of licences',
  access: anyone(),
  query: { popular: flag().optional() },
  paginate: 'offset',
  response: z.array(licenseEntity),
  handler({ query, page }) {
    const all = licenseKeys(query.popular)
      .map((key) => findLicenseTemplate(key))
      .filter((one) => one !== undefined)
    return pageOf(all, page)
  },
})

export const getLicense = endpoint({
  method: 'GET',
  path: '/templates/licenses/:key',
  summary: 'Get the template of a licence, with the names put in',
  access: anyone(),
  params: { key: text({ max: 255 }) },
  query: { project: text({ max: 1000 }).optional(), fullname: text({ max: 1000 }).optional() },
  response: licenseEntity,
  handler: ({ ctx, params, query }) => licenseFor(ctx, params.key, query),
})
