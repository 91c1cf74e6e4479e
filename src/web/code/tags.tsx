import { call, may } from '../../http/call/call.ts'
import { integer, text } from '../../http/params.ts'
import { listReleases } from '../../publishing/releases/endpoints.ts'
import { createRepositoryTag, listRepositoryTags } from '../../repositories/tags/endpoints.ts'
import { apiPath, pathOf, withQuery } from '../address.ts'
import { form } from '../form.ts'
import { Blank, Pages, Time } from '../parts/basics.tsx'
import { Field, Form, RefusalNote } from '../parts/form.tsx'
import { Icon } from '../parts/icon.tsx'
import { A } from '../parts/link.tsx'
import { projectPage } from '../project/frame.tsx'
import { placeAddress } from './place.ts'
import { releaseAddress } from './releases.tsx'

const PER_PAGE = 50

export const tagsPage = projectPage({
  address: '/-/tags',
  summary: 'Tags of a repository',
  tab: 'tags',
  query: { search: text({ max: 300 }).optional(), page: integer({ min: 1 }).default(1) },
  api: ({ project, query }) => withQuery(apiPath(project, 'repository', 'tags'), query),
  async read(ctx, { project, query }) {
    const path = { id: project.id }
    const [tags, mayCreate, mayRead] = await Promise.all([
      call(listRepositoryTags, ctx, { path, query: { ...query, per_page: PER_PAGE } }),
      may(createRepositoryTag, ctx, { path }),
      may(listReleases, ctx, { path }),
    ])
    return { tags, search: query.search, page: query.page, mayCreate, mayRead }
  },
  title: () => 'Tags',
  view: ({ tags, search, page, mayCreate, mayRead }, project) => {
    const address = pathOf(project.path_with_namespace, '-', 'tags')
    return (
      <div class="stack narrow">
        <div class="row between">
          <h1>Tags</h1>
          {mayRead && (
            <A class="button" href={pathOf(project.path_with_namespace, '-', 'releases')}>
              <Icon name="rocket" /> Releases
            </A>
          )}
        </div>
        <RefusalNote />
        {tags.items.length === 0 && <Blank icon="tag" title="No tags found" />}
        <ul class="list">
          {tags.items.map((tag) => (
            <li key={tag.name}>
              <div class="main">
                <A
                  class="title mono"
                  href={placeAddress(project, 'tree', { ref: tag.name, path: '' })}
                >
                  <Icon name="tag" /> {tag.name}
                </A>{' '}
                {tag.protected && <span class="label">protected</span>}{' '}
                {tag.release && <A href={releaseAddress(project, tag.name)}>Release notes</A>}
                <p class="facts">
                  {tag.message ?? tag.commit?.title}{' '}
                  <Time at={tag.created_at ?? tag.commit?.committed_date} />
                </p>
              </div>
              <A
                class="button"
                href={`${placeAddress(project, 'archive', { ref: tag.name, path: '' })}/${project.path}-${encodeURIComponent(tag.name)}.tar.gz`}
                download=""
              >
                <Icon name="download" /> tar.gz
              </A>
            </li>
          ))}
        </ul>
        <Pages
          page={page}
          perPage={PER_PAGE}
          total={tags.total}
          more={tags.more}
          address={withQuery(address, { search })}
        />
        {mayCreate && (
          <section class="box">
            <h2 class="box-head">New tag</h2>
            <Form action={address} class="form box-body">
              <Field name="tag_name" label="Name" input={{ required: true }} />
              <Field
                name="ref"
                label="At"
                value={project.default_branch ?? ''}
                hint="A branch, tag or commit"
              />
              <Field
                name="message"
                label="Message"
                area={{ rows: 3 }}
                hint="With a message the tag is annotated."
              />
              <button type="submit" class="button primary">
                Create the tag
              </button>
            </Form>
          </section>
        )}
      </div>
    )
  },
})

export const createTagForm = form({
  address: '/*project/-/tags',
  summary: 'Create a tag',
  endpoint: createRepositoryTag,
  page: tagsPage,
  input: ({ path, fields }) => ({
    path: { id: path.project },
    body: { tag_name: fields.tag_name, ref: fields.ref, message: fields.message || undefined },
  }),
  flash: ({ name }) => `The tag ${name} was created.`,
})
