import { call } from '../../http/call/call.ts'
import { text } from '../../http/params.ts'
import {
  createProjectRelease,
  createReleaseLink,
  deleteProjectRelease,
  deleteReleaseLink,
  getProjectRelease,
  updateRelease,
} from '../../publishing/releases/endpoints.ts'
import { LINK_TYPES } from '../../publishing/releases/entity.ts'
import { postReleaseEvidence } from '../../publishing/releases/evidence-endpoints.ts'
import { apiPath, pathOf } from '../address.ts'
import { form } from '../form.ts'
import { ButtonForm, Field, Form, RefusalNote } from '../parts/form.tsx'
import { A } from '../parts/link.tsx'
import { type ProjectData, projectPage } from '../project/frame.tsx'
import { type Release, releaseAddress } from './releases.tsx'

export const newReleasePage = projectPage({
  address: '/-/releases/new',
  summary: 'Make a release',
  tab: 'tags',
  signedIn: true,
  query: { tag_name: text({ max: 1024 }).optional() },
  read: async (_ctx, { query }) => ({ tag: query.tag_name ?? '' }),
  title: () => 'New release',
  view: ({ tag }, project) => (
    <div class="stack narrow">
      <h1>New release</h1>
      <Form action={pathOf(project.path_with_namespace, '-', 'releases', 'new')} class="form">
        <RefusalNote />
        <Field name="tag_name" label="Tag" value={tag} input={{ required: true }} />
        <Field
          name="ref"
          label="Make the tag at"
          value={project.default_branch ?? ''}
          hint="A branch or commit, for a tag that is not there yet."
        />
        <ReleaseFields release={undefined} />
        <button type="submit" class="button primary">
          Make the release
        </button>
      </Form>
    </div>
  ),
})

export const editReleasePage = projectPage({
  address: '/-/releases/:tag/edit',
  summary: 'Change a release',
  tab: 'tags',
  signedIn: true,
  api: ({ project, tag }) => apiPath(project, 'releases', tag),
  read: async (ctx, { project, tag }) =>
    await call(getProjectRelease, ctx, { path: { id: project.id, tag_name: tag } }),
  title: ({ name }) => `Edit · ${name}`,
  view: (release, project) => {
    const address = releaseAddress(project, release.tag_name)
    return (
      <div class="stack narrow">
        <h1>Edit the release {release.name}</h1>
        <Form action={`${address}/edit`} class="form">
          <RefusalNote />
          <ReleaseFields release={release} />
          <p class="row">
            <button type="submit" class="button primary">
              Save
            </button>
            <A class="button" href={address}>
              Cancel
            </A>
          </p>
        </Form>
        <Links project={project} release={release} />
      </div>
    )
  },
})

function ReleaseFields({ release }: { release: Release | undefined }) {
  const milestones = release?.milestones.map(({ title }) => title).join(', ')
  return (
    <>
      <Field name="name" label="Title" value={release?.name ?? ''} />
      <Field
        name="milestones"
        label="Milestones"
        value={milestones ?? ''}
        hint="Their titles, with commas between them"
      />
      <Field
        name="released_at"
        label="Released at"
        value={release?.released_at.slice(0, 10) ?? ''}
        input={{ type: 'date' }}
        hint="Today, unless you say another day."
      />
      <Field
        name="description"
        label="Notes"
        value={release?.description ?? ''}
        area={{ rows: 12, markdown: true }}
        hint="Markdown"
      />
    </>
  )
}

function Links({ project, release }: { project: ProjectData; release: Release }) {
  const address = releaseAddress(project, release.tag_name, 'links')
  return (
    <section class="box">
      <h2 class="box-head">Assets</h2>
      <div class="box-body stack">
        <ul class="list">
          {release.assets.links.map((link) => (
            <li key={link.id}>
              <span class="main">
                {link.name} <span class="quiet">{link.url}</span>
              </span>
              <ButtonForm
                action={`${address}/delete`}
                fields={{ link_id: link.id }}
                kind="danger"
                label="Remove"
              />
            </li>
          ))}
        </ul>
        <Form action={address} class="form">
          <Field name="link_name" label="Name of the asset" fault="name" />
          <Field name="url" label="Address" input={{ type: 'url' }} />
          <Field
            name="link_type"
            label="Kind"
            value="other"
            options={LINK_TYPES.map((value) => ({ value, label: value }))}
          />
          <button type="submit" class="button">
            Add the asset
          </button>
        </Form>
      </div>
    </section>
  )
}

type Fields = Readonly<Record<string, unknown>>

const release = ({ name, milestones, released_at, description }: Fields) => ({
  ...(name ? { name } : {}),
  milestones,
  description,
  ...(released_at ? { released_at } : {}),
})

const back = ({ path }: { path: { project: string; tag: string } }, ...more: string[]) =>
  `${pathOf(path.project, '-', 'releases')}/${[encodeURIComponent(path.tag), ...more].join('/')}`

const tagPath = (path: { project: string; tag: string }) => {
  return { id: path.project, tag_name: path.tag }
}

export const releaseForms = [
  form({
    address: '/*project/-/releases/new',
    summary: 'Make a release',
    endpoint: createProjectRelease,
    page: newReleasePage,
    input: ({ path, fields }) => ({
      path: { id: path.project },
      body: { ...release(fields), tag_name: fields.tag_name, ref: fields.ref || undefined },
    }),
    goTo: ({ path, data }) => back({ path: { project: path.project, tag: data.tag_name } }),
    flash: ({ name }) => `The release ${name} was made.`,
  }),
  form({
    address: '/*project/-/releases/:tag/edit',
    summary: 'Change a release',
    endpoint: updateRelease,
    page: editReleasePage,
    input: ({ path, fields }) => ({ path: tagPath(path), body: release(fields) }),
    goTo: (sent) => back(sent),
    flash: 'The release was changed.',
  }),
  form({
    address: '/*project/-/releases/:tag/delete',
    summary: 'Delete a release',
    endpoint: deleteProjectRelease,
    input: ({ path }) => ({ path: tagPath(path) }),
    goTo: ({ path }) => pathOf(path.project, '-', 'releases'),
    flash: 'The release was deleted. Its tag is still there.',
  }),
  form({
    address: '/*project/-/releases/:tag/evidence',
    summary: 'Collect evidence of a release',
    endpoint: postReleaseEvidence,
    input: ({ path }) => ({ path: tagPath(path) }),
    goTo: (sent) => back(sent),
    flash: 'What the release says now was written down.',
  }),
  form({
    address: '/*project/-/releases/:tag/links',
    summary: 'Add an asset to a release',
    endpoint: createReleaseLink,
    page: editReleasePage,
    input: ({ path, fields }) => ({
      path: tagPath(path),
      body: { name: fields.link_name, url: fields.url, link_type: fields.link_type },
    }),
    goTo: (sent) => back(sent, 'edit'),
    flash: 'The asset was added.',
  }),
  form({
    address: '/*project/-/releases/:tag/links/delete',
    summary: 'Remove an asset from a release',
    endpoint: deleteReleaseLink,
    input: ({ path, fields }) => ({
      path: { ...tagPath(path), link_id: String(fields.link_id) },
    }),
    goTo: (sent) => back(sent, 'edit'),
    flash: 'The asset was removed.',
  }),
]
