// A SAML 2.0 identity provider on loopback: samlp, the one that Auth0 wrote and runs, in express.
// node saml.cjs HOST KEY.pem CERTIFICATE.pem; says {"url"} on standard output when it listens.
//
// PUT /services tells it of a service provider and who signs in there, as its administrator would:
// {audience, acs, user: {id, email, name, groups}, options}. `options` are samlp's own.

const { readFileSync } = require("node:fs");
const express = require("express");
const samlp = require("samlp");

const [host, keyFile, certificateFile] = process.argv.slice(2);
const key = readFileSync(keyFile, "utf8");
const cert = readFileSync(certificateFile, "utf8");
const services = new Map();
const app = express();
let issuer;

// What the administrator of this provider lets it tell of people, and under which names.
const CLAIMS = "http://schemas.xmlsoap.org/ws/2005/05/identity/claims/";

function profile(user) {
  return {
    getNameIdentifier: () => ({ nameIdentifier: user.id }),
    getClaims: () => ({
      [`${CLAIMS}emailaddress`]: user.email,
      [`${CLAIMS}name`]: user.name,
      "http://schemas.xmlsoap.org/claims/Group": user.groups,
    }),
  };
}

app.put("/services", express.json(), (request, response) => {
  services.set(request.body.audience, request.body);
  response.sendStatus(204);
});

app.get("/metadata", (request, response) =>
  samlp.metadata({ issuer, cert, redirectEndpointPath: "/sso", postEndpointPath: "/sso" })(
    request,
    response,
  ),
);

app.get("/sso", (request, response, next) => {
  samlp.parseRequest(request, (error, asked) => {
    const service = asked && services.get(asked.issuer);
    if (error || !service) return response.sendStatus(400);
    // As a provider should: an answer goes nowhere but to the registered address.
    if (asked.assertionConsumerServiceURL !== service.acs) return response.sendStatus(400);
    return samlp.auth({
      issuer,
      cert,
      key,
      destination: service.acs,
      recipient: service.acs,
      getPostURL: (_audience, _request, _req, done) => done(null, service.acs),
      getUserFromRequest: () => service.user,
      profileMapper: profile,
      nameIdentifierFormat: "urn:oasis:names:tc:SAML:2.0:nameid-format:persistent",
      ...service.options,
    })(request, response, next);
  });
});

const server = app.listen(0, host, () => {
  const url = `http://${host}:${server.address().port}`;
  issuer = `${url}/metadata`;
  console.log(JSON.stringify({ url }));
});
// Whoever started it is gone when its standard input ends.
process.stdin.resume().on("end", () => process.exit(0));
