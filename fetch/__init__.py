"""Reading the web: which addresses may be visited and how their content is understood."""
