// Runs in the browser, beside swagger-ui-bundle.js. A token that is entered stays in the page: it is gone on reload.
window.SwaggerUIBundle({
  url: '/api/openapi.json',
  dom_id: '#viewer',
  deepLinking: true,
  docExpansion: 'list',
  defaultModelsExpandDepth: 0,
  displayRequestDuration: true,
  filter: true,
  validatorUrl: null,
  persistAuthorization: false,
})
