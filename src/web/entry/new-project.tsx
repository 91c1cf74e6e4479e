import { call } from '../../http/call/call.ts'
import { text } from '../../http/params.ts'
import { getNamespaces } from '../../projects/namespaces/endpoints.ts'
import { getProjects, postProject } from '../../projects/projects/endpoints.ts'
import { pathOf } from '../address.ts'
import { form } from '../form.ts'
import { page } from '../page.ts'
import { Field, Form, RefusalNote } from '../parts/form.tsx'

export const visibilities = [
  { value: 'private', label: 'Private: members only' },
  { value: 'internal', label: 'Internal: everybody who is signed in' },
  { value: 'public', label: 'Public: everybody' },
]

/** Who gives a project this topic offers it as a beginning of others. */
export const TEMPLATE_TOPIC = 'template'

export const newProjectPage = page({
  address: '/projects/new',
  summary: 'New project',
  signedIn: true,
  query: {
    namespace_id: text({ max: 20 }).optional(),
    /** The path of a project whose files the new one is to begin with. */
    template: text({ max: 1024 }).optional(),
  },
  async read(ctx, { query }) {
    const [{ items }, templates] = await Promise.all([
      call(getNamespaces, ctx, { path: {}, query: { per_page: 100 } }),
      call(getProjects, ctx, { path: {}, query: { topic: TEMPLATE_TOPIC, per_page: 100 } }),
    ])
    return {
      namespaces: items.map(({ id, full_path: path }) => ({ value: String(id), label: path })),
      chosen: query.namespace_id ?? null,
      template: query.template ?? '',
      templates: templates.items.map((one) => one.path_with_namespace),
      preset: ctx.settings.get('default_project_visibility'),
    }
  },
  title: () => 'New project · Gitstead',
  view: ({ namespaces, chosen, template, templates, preset }) => (
    <div class="narrow stack">
      <h1>New project</h1>
      <RefusalNote />
      <Form action="/projects/new" class="form">
        <Field name="namespace_id" label="Where" options={namespaces} value={chosen} />
        <Field name="name" label="Name" input={{ required: true, autofocus: true }} />
        <Field
          name="path"
          label="Path"
          hint="How it stands in addresses; made from the name where this is empty. A name without Latin letters needs one."
        />
        <Field name="description" label="Description" area={{ rows: 2 }} />
        <Field name="visibility" label="Visibility" options={visibilities} value={preset} />
        <Field
          name="initialize_with_readme"
          label="First commit"
          options={[
            { value: 'true', label: 'With a README' },
            { value: 'false', label: 'Empty: I push a repository that I have' },
          ]}
        />
        <Field
          name="template_project_id"
          label="From a template"
          value={template}
          fault="template_name"
          hint="The path of a project whose files it begins with, or nothing. Projects with the topic “template” are offered."
          input={{ list: 'templates', placeholder: 'tools/starter' }}
        />
        <datalist id="templates">
          {templates.map((path) => (
            <option key={path} value={path} />
          ))}
        </datalist>
        <Field
          name="import_url"
          label="Import from"
          hint="The address of a repository to copy, or nothing"
          input={{ type: 'url', placeholder: 'https://…' }}
        />
        <button type="submit" class="button primary">
          Create the project
        </button>
      </Form>
    </div>
  ),
})

export const newProjectForm = form({
  address: '/projects/new',
  summary: 'Create a project',
  endpoint: postProject,
  page: newProjectPage,
  input: ({ fields }) => {
    const { namespace_id, name, path, description, visibility, import_url, template_project_id } =
      fields
    const imports = typeof import_url === 'string' && import_url !== ''
    const { initialize_with_readme } = fields
    const place = path ? { path } : {}
    const own = imports ? { import_url } : { initialize_with_readme, template_project_id }
    return { path: {}, body: { namespace_id, name, ...place, description, visibility, ...own } }
  },
  goTo: ({ data }) => pathOf(data.path_with_namespace),
})
