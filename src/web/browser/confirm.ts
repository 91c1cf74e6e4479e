/** Asks before a form is sent that says so: what it does cannot be taken back. */
export function askBefore(): void {
  document.addEventListener('submit', (event) => {
    const form = event.target
    if (!(form instanceof HTMLFormElement)) return
    const question = form.dataset.confirm
    if (question !== undefined && !window.confirm(question)) event.preventDefault()
  })
}
