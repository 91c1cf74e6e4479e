import { pathOf, projectIn } from '../address.ts'
import { useShown } from '../context.ts'
import { addressIn } from './link.tsx'

interface Props {
  readonly name: string
  readonly rows: number
  readonly value?: string
  readonly id?: string
  readonly required?: boolean
  readonly placeholder?: string
  readonly [name: `aria-${string}`]: string | boolean
}

/** A field for Markdown in a form of a project. With script there is a look at what the text becomes; without it the field alone. */
export function MarkdownArea({ value = '', ...area }: Props) {
  const shown = useShown()
  const project = projectIn(shown.address)
  const field = <textarea {...area}>{`\n${value}`}</textarea>
  if (project === undefined) return field
  return (
    <div
      class="markdown-area"
      data-preview={addressIn(shown, pathOf(project, '-', 'preview_markdown'))}
    >
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset would stand in the form's own list of fields */}
      <div class="row" role="group" aria-label="How the text is shown" data-script hidden>
        <button type="button" class="button quiet" data-show="text" aria-pressed="true">
          Write
        </button>
        <button type="button" class="button quiet" data-show="preview" aria-pressed="false">
          Preview
        </button>
      </div>
      {field}
      <div class="preview box" data-shown hidden aria-live="polite" />
    </div>
  )
}
