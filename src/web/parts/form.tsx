import type { ComponentChildren } from 'preact'
import { useShown } from '../context.ts'
import { type Attributes, addressIn } from './link.tsx'
import { MarkdownArea } from './markdown-area.tsx'

interface FormProps extends Attributes {
  /** A path of ours. */
  readonly action: string
  /** `get` for searches and filters, which change nothing. */
  readonly method?: 'get' | 'post'
  /** Where the browser goes then, if the form leaves that open: this page by default. */
  readonly returnTo?: string
  readonly role?: 'search'
  readonly children?: ComponentChildren
  /** For forms with files. */
  readonly enctype?: 'multipart/form-data'
  /** The address of the part of the page around the form, which alone is renewed after it where there is script. */
  readonly quiet?: string | undefined
}

/** A form of ours, with what proves that. */
export function Form({ action, method = 'post', returnTo, quiet, children, ...more }: FormProps) {
  const shown = useShown()
  return (
    <form
      {...more}
      {...(quiet === undefined ? {} : { 'data-quiet': addressIn(shown, quiet) })}
      method={method}
      action={addressIn(shown, action)}
    >
      {method === 'post' && (
        <>
          <input type="hidden" name="authenticity_token" value={shown.formToken} />
          <input type="hidden" name="return_to" value={returnTo ?? shown.address} />
        </>
      )}
      {children}
    </form>
  )
}

interface ButtonFormProps {
  readonly action: string
  readonly label: ComponentChildren
  readonly kind?: 'plain' | 'primary' | 'danger' | 'quiet'
  readonly fields?: Readonly<Record<string, string | number>>
  readonly returnTo?: string
  readonly title?: string
  /** Asked before the form is sent: what cannot be taken back. */
  readonly confirm?: string
  readonly disabled?: boolean
  readonly quiet?: string | undefined
}

/** A button that sends a form of its own: for what changes something with one click. */
export function ButtonForm(props: ButtonFormProps) {
  const { action, label, kind = 'plain', fields = {}, returnTo, title, disabled } = props
  const { confirm, quiet } = props
  return (
    <Form
      action={action}
      class="button-form"
      quiet={quiet}
      {...(returnTo === undefined ? {} : { returnTo })}
      {...(confirm === undefined ? {} : { 'data-confirm': confirm })}
    >
      {Object.entries(fields).map(([name, value]) => (
        <input key={name} type="hidden" name={name} value={value} />
      ))}
      <button type="submit" class={`button ${kind}`} title={title} disabled={disabled === true}>
        {label}
      </button>
    </Form>
  )
}

interface FieldProps {
  readonly name: string
  readonly label: string
  /** What stands in the field at first; after a refusal what was typed. */
  readonly value?: string | number | null
  readonly hint?: ComponentChildren
  /** The name under which the endpoint reports what is wrong, if it is another. */
  readonly fault?: string
  /** More attributes of the element: `{ type: 'password', required: true }`. */
  readonly input?: Readonly<Record<string, unknown>> | undefined
  readonly area?: { readonly rows: number; readonly markdown?: boolean } | undefined
  readonly options?: readonly { readonly value: string; readonly label: string }[] | undefined
}

/** One labelled field of a form: what was typed comes back after a refusal, with what is wrong beside it. */
export function Field({ name, label, value, hint, fault, input, area, options }: FieldProps) {
  const { refused } = useShown()
  const id = `field-${name.replaceAll(/\W+/g, '-')}`
  // A secret never comes back in a page.
  const typed = refused && input?.type !== 'password' ? valueAt(refused.values, name) : undefined
  const shownValue = typed ?? (value === null || value === undefined ? '' : String(value))
  const faults = refused?.fields[fault ?? name] ?? []
  const about = [faults.length > 0 && `${id}-fault`, hint && `${id}-hint`].filter(Boolean).join(' ')
  const common = {
    id,
    name,
    'aria-invalid': faults.length > 0,
    ...(about === '' ? {} : { 'aria-describedby': about }),
  }
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <Control common={common} value={shownValue} input={input} area={area} options={options} />
      {faults.length > 0 && (
        <p class="fault" id={`${id}-fault`}>
          {faults.join('; ')}
        </p>
      )}
      {hint && (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
    </div>
  )
}

interface ControlProps extends Pick<FieldProps, 'input' | 'area' | 'options'> {
  readonly common: { readonly id: string; readonly name: string; readonly 'aria-invalid': boolean }
  readonly value: string
}

function Control({ common, value, input, area, options }: ControlProps) {
  if (options) {
    return (
      <select {...common}>
        {options.map((one) => (
          <option key={one.value} value={one.value} selected={one.value === value}>
            {one.label}
          </option>
        ))}
      </select>
    )
  }
  if (area?.markdown) return <MarkdownArea {...common} rows={area.rows} {...input} value={value} />
  if (area) {
    return (
      <textarea {...common} rows={area.rows} {...input}>
        {`\n${value}`}
      </textarea>
    )
  }
  return <input type="text" {...common} value={value} {...input} />
}

/** The text that was typed into `user[name]` or `name`. */
function valueAt(values: Readonly<Record<string, unknown>>, name: string): string | undefined {
  let at: unknown = values
  for (const key of name.replaceAll(']', '').split('[')) {
    if (typeof at !== 'object' || at === null) return undefined
    at = (at as Readonly<Record<string, unknown>>)[key]
  }
  return typeof at === 'string' || typeof at === 'number' ? String(at) : undefined
}

/** The sentence above a form that was refused. */
export function RefusalNote() {
  const { refused } = useShown()
  return refused && refused.text !== '' ? (
    <p class="note alert" role="alert">
      {refused.text}
    </p>
  ) : null
}
