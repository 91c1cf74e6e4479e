const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/** The description of a project as HTML: its text, no markup taken from it. */
export function descriptionHtml(description: string | null): string {
  if (description === null || description.trim() === '') return ''
  const escaped = description.replaceAll(/[&<>"']/g, (char) => entities[char] ?? char)
  return `<p dir="auto">${escaped.replaceAll('\n', '<br>\n')}</p>`
}
