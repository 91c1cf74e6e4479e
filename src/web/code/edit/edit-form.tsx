import { assetPath } from '../../assets.ts'
import { useShown } from '../../context.ts'
import { Field, Form, RefusalNote } from '../../parts/form.tsx'
import { A } from '../../parts/link.tsx'
import type { ProjectData } from '../../project/frame.tsx'
import { placeAddress } from '../place.ts'
import type { Edited, EditKind } from './edit-kinds.ts'

interface EditFormProps {
  readonly kind: EditKind
  readonly project: ProjectData
  readonly edited: Edited
}

export function EditForm({ kind, project, edited }: EditFormProps) {
  const { place, file, branch, inFork } = edited
  const sendsFile = kind.name === 'upload' || kind.name === 'replace'
  return (
    <Form
      action={placeAddress(project, kind.name, place)}
      class="form wide"
      {...(sendsFile ? { enctype: 'multipart/form-data' as const } : {})}
    >
      <RefusalNote />
      <Changed kind={kind} edited={edited} project={project} />
      <input type="hidden" name="last_commit_id" value={file?.lastCommit ?? ''} />
      <KindFields kind={kind} edited={edited} />
      {sendsFile && (
        <div class="field">
          <label for="field-file">File</label>
          <input type="file" id="field-file" name="file" required />
        </div>
      )}
      <Field
        name="commit_message"
        label="Commit message"
        area={{ rows: 3 }}
        hint="Without one it says what was done."
      />
      <Field
        name="branch"
        label="Branch"
        value={branch}
        hint={hintOf(edited)}
        input={{ required: true }}
      />
      <label class="row">
        <input
          type="checkbox"
          name="merge_request"
          value="1"
          checked={inFork || branch !== place.ref}
        />{' '}
        Open a merge request from a new branch
      </label>
      <p class="row">
        <button type="submit" class={`button ${kind.name === 'delete' ? 'danger' : 'primary'}`}>
          {kind.button}
        </button>
        <A class="button" href={placeAddress(project, kind.ofFile ? 'blob' : 'tree', place)}>
          Cancel
        </A>
      </p>
    </Form>
  )
}

function hintOf({ place, branch, inFork }: Edited): string {
  if (inFork) {
    return 'You may not push to this project: the commit goes to a new branch of your fork of it, which is made with it where you have none.'
  }
  return branch === place.ref
    ? 'Another name makes a new branch.'
    : 'You may not push to the branch that you look at: the commit goes to a new one.'
}

/** Shown where somebody else changed the file since the form was opened: what was typed is kept. */
function Changed({ kind, edited, project }: EditFormProps) {
  const { refused } = useShown()
  const before = refused?.values.last_commit_id
  if (!kind.ofFile || typeof before !== 'string' || before === edited.file?.lastCommit) return null
  return (
    <p class="note warning">
      {edited.file
        ? 'Somebody changed this file meanwhile. Send the form again to put yours in its place. '
        : 'Somebody deleted this file meanwhile. Send the form again to make it anew. '}
      {edited.file && (
        <A href={placeAddress(project, 'commits', edited.place)}>See what was changed</A>
      )}
    </p>
  )
}

function KindFields({ kind, edited: { place, file } }: Omit<EditFormProps, 'project'>) {
  if (kind.name === 'edit') {
    if (file && file.text === undefined) {
      return <p class="note alert">This file is no text that can be edited here.</p>
    }
    return (
      <>
        <Field name="file_path" label="Path" value={place.path} input={{ required: true }} />
        <Code text={file?.text ?? ''} name={place.path} />
      </>
    )
  }
  if (kind.name === 'new') {
    return (
      <>
        <Field
          name="file_name"
          label="Name"
          hint="With / it goes into a folder below."
          input={{ required: true }}
        />
        <Code text="" name="" />
      </>
    )
  }
  if (kind.name === 'rename') {
    return <Field name="file_path" label="New path" value={place.path} input={{ required: true }} />
  }
  if (kind.name === 'new_folder') {
    return (
      <Field
        name="folder_name"
        label="Name"
        hint="git keeps no empty folders: a file .gitkeep is put into it."
        input={{ required: true }}
      />
    )
  }
  return null
}

/** A text area, in whose place the editor comes where scripts run. */
function Code({ text, name }: { text: string; name: string }) {
  const { basePath } = useShown()
  return (
    <>
      <input type="hidden" name="newlines" value={text.includes('\r\n') ? 'crlf' : 'lf'} />
      <Field
        name="content"
        label="Content"
        value={text}
        area={{ rows: 24 }}
        input={{
          'data-editor': true,
          'data-filename': name,
          'aria-label': 'Content of the file',
          spellcheck: false,
          wrap: 'off',
          class: 'code-area',
        }}
      />
      <p class="hint" data-script hidden>
        Tab indents; Escape leaves the editor.
      </p>
      <script type="module" src={basePath + assetPath('editor.js')} />
    </>
  )
}
